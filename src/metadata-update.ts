import { contractUpdateAbi, metadataAbi, metadataVariantAbi } from "../abis/metadata.ts";
import { define, type Log } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import type { Context } from "./store.ts";

/** What contracts say of their metadata, in the form that the standards have. */
export const metadata = define(metadataAbi, {
  // One with indexed ids and enough data decodes as these, too.
  async MetadataUpdate(log, context) {
    if (!log.topics[1]) await recordToken(log, context);
  },

  async BatchMetadataUpdate(log, context) {
    if (!log.topics[1]) await recordRange(log, context);
  },

  async URI({ place, args }, context) {
    await recordUpdate(context, place, { first: args._id, last: args._id });
  },

  ContractURIUpdated: recordContract,
});

/** The same in other forms: see `metadataVariantAbi`. */
export const metadataVariant = define(metadataVariantAbi, {
  MetadataUpdate: recordToken,
  BatchMetadataUpdate: recordRange,
  ContractURIUpdated: recordContract,
});

/** What is written in place of ContractURIUpdated(): see `contractUpdateAbi`. */
export const contractUpdate = define(contractUpdateAbi, {
  ContractURIUpdated: recordContract,
  ContractMetadataUpdated: recordContract,
});

async function recordContract({ place }: Log, context: Context): Promise<void> {
  await recordUpdate(context, place, undefined);
}

async function recordToken({ place, args }: Log<{ _tokenId: bigint }>, context: Context): Promise<void> {
  await recordUpdate(context, place, { first: args._tokenId, last: args._tokenId });
}

async function recordRange(
  { place, args: { _fromTokenId: first, _toTokenId: last } }: Log<{ _fromTokenId: bigint; _toTokenId: bigint }>,
  context: Context,
): Promise<void> {
  if (first <= last) await recordUpdate(context, place, { first, last });
}

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
