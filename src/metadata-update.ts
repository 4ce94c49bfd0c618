import { type Context, ponder } from "ponder:registry";
import { metadataUpdate } from "ponder:schema";
import { type LogPlace } from "./movement.ts";
import { placeOf } from "./record.ts";

ponder.on("Metadata:MetadataUpdate", async ({ event, context }) => {
  await recordUpdate(context, placeOf(event), { first: event.args._tokenId, last: event.args._tokenId });
});

ponder.on("Metadata:BatchMetadataUpdate", async ({ event, context }) => {
  const { _fromTokenId: first, _toTokenId: last } = event.args;
  if (first <= last) await recordUpdate(context, placeOf(event), { first, last });
});

ponder.on("Metadata:URI", async ({ event, context }) => {
  await recordUpdate(context, placeOf(event), { first: event.args._id, last: event.args._id });
});

ponder.on("Metadata:ContractURIUpdated", async ({ event, context }) => {
  await recordUpdate(context, placeOf(event), undefined);
});

/** One row for a log, however many tokens its range has. No range: the contract's own metadata. */
async function recordUpdate(
  { db }: Context,
  { blockNumber, logIndex, contractAddress }: LogPlace,
  range: { first: bigint; last: bigint } | undefined,
): Promise<void> {
  await db.insert(metadataUpdate).values({
    block_number: blockNumber,
    log_index: logIndex,
    contract_address: contractAddress,
    from_token_id: range?.first ?? null,
    to_token_id: range?.last ?? null,
    kind: !range ? "contract" : range.first === range.last ? "token" : "range",
  });
}
