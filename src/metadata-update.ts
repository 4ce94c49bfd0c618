import { metadataAbi } from "../abis/metadata.ts";
import { define } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import type { Context } from "./store.ts";

export const metadata = define(metadataAbi, {
  async MetadataUpdate({ place, args }, context) {
    await recordUpdate(context, place, { first: args._tokenId, last: args._tokenId });
  },

  async BatchMetadataUpdate({ place, args: { _fromTokenId: first, _toTokenId: last } }, context) {
    if (first <= last) await recordUpdate(context, place, { first, last });
  },

  async URI({ place, args }, context) {
    await recordUpdate(context, place, { first: args._id, last: args._id });
  },

  async ContractURIUpdated({ place }, context) {
    await recordUpdate(context, place, undefined);
  },
});

/** One row for a log, however many tokens its range has. No range: the contract's own metadata. */
async function recordUpdate(
  { store }: Context,
  { blockNumber, logIndex, contractAddress }: LogPlace,
  range: { first: bigint; last: bigint } | undefined,
): Promise<void> {
  await store.insert("metadataUpdate", {
    block_number: blockNumber,
    log_index: logIndex,
    contract_address: contractAddress,
    from_token_id: range?.first ?? null,
    to_token_id: range?.last ?? null,
  });
}
