import { type Hex, zeroAddress } from "viem";
import { cryptopunksAbi } from "../abis/cryptopunks.ts";
import { define } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import { closePunkOrders, findBid } from "./punk-order.ts";
import { priceOf } from "./sale.ts";
import type { Context } from "./store.ts";

/**
 * The market contract of 2017. It follows no standard: three events move a punk, and PunkBought can have a wrong party.
 */

/** Movements and sales of punks. Their orders are in `punk-order.ts`. */
export const punkSales = define(cryptopunksAbi, {
  async Assign({ place, args: { punkIndex: tokenId, to } }, context) {
    await recordPunk(context, place, { tokenId, from: zeroAddress, to });
  },

  async PunkTransfer({ place, args: { from, to, punkIndex: tokenId } }, context) {
    await recordPunk(context, place, { tokenId, from, to });
    await closePunkOrders(context, place, { tokenId, owner: to, taken: undefined });
  },

  async Transfer({ place, args }, { store }) {
    const { contractAddress: contract_address, blockNumber: block_number, logIndex: log_index } = place;
    const row = { receiver: args.to, block_number, log_index };
    await store.upsert("punkReceiver", { contract_address, ...row }, row);
  },

  async PunkBought({ place, args }, context) {
    const { fromAddress, toAddress, punkIndex: tokenId, value } = args;
    const from = await findSeller(context, place, { tokenId, fromAddress, toAddress });
    // The contract erases an accepted bid before it logs the bidder. The Transfer log before this one still names him.
    const isBidAccepted = toAddress === zeroAddress;
    const to = isBidAccepted ? await findReceiver(context, place) : toAddress;
    await recordPunk(context, place, { tokenId, from, to });

    const { logIndex, contractAddress } = place;
    const sale = {
      // The amount of an accepted bid is erased too.
      ...(isBidAccepted ? await findBid(context, place, tokenId) : priceOf(value, zeroAddress)),
      logIndex,
      // The movement has index 0.
      batchIndex: 1,
      marketplace: "cryptopunks" as const,
      contractAddress,
      tokenId,
      quantity: 1n,
      seller: from,
      buyer: to,
      broker: contractAddress,
      isOffer: isBidAccepted,
    };
    await context.recordStep(place, { kind: "sales", sales: [sale] });
    await closePunkOrders(context, place, { tokenId, owner: to, taken: isBidAccepted ? "bid" : "offer" });
  },
});

async function recordPunk(
  { recordLog }: Context,
  place: LogPlace,
  { tokenId, from, to }: { tokenId: bigint; from: Hex; to: Hex },
): Promise<void> {
  await recordLog(place, [{ ...place, standard: "CRYPTOPUNKS", batchIndex: 0, tokenId, from, to, quantity: 1n }]);
}

/**
 * The first of the two deployments logs the buyer as the seller too: there the seller is the punk's owner until now.
 */
async function findSeller(
  { store }: Context,
  { contractAddress }: LogPlace,
  { tokenId, fromAddress, toAddress }: { tokenId: bigint; fromAddress: Hex; toAddress: Hex },
): Promise<Hex> {
  if (fromAddress !== toAddress) return fromAddress;
  const row = await store.find("token", { contract_address: contractAddress, token_id: tokenId });
  return row?.owner ?? fromAddress;
}

/** The receiver in the last Transfer log of the same block, else the zero address, as PunkBought has it. */
async function findReceiver({ store }: Context, { contractAddress, blockNumber, logIndex }: LogPlace): Promise<Hex> {
  const last = await store.find("punkReceiver", { contract_address: contractAddress });
  const isSameBlock = last?.block_number === blockNumber && last.log_index < logIndex;
  return isSameBlock ? last.receiver : zeroAddress;
}
