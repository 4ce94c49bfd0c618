import { type Hex, zeroHash } from "viem";
import { approvalAbi } from "../abis/approval.ts";
import { conduitControllerAbi, seaportAbi } from "../abis/seaport.ts";
import { moverOf, operatorOf, readTerms, withContracts } from "../abis/seaport-order.ts";
import { define } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import { placeOrder, settleOrder } from "./record-order.ts";
import { countUnits, fillOf, withoutTips } from "./seaport.ts";
import type { Context, Row } from "./store.ts";

/**
 * What Seaport's logs do to orders, and the logs that decide whether orders can be filled: counters, conduits,
 * approvals.
 */

/**
 * Takes what was filled off its order. Returns the order's row from before, null where there was none.
 *
 * @param filled.tokens the contracts of all items
 */
export async function fillOrder(
  context: Context,
  place: Pick<LogPlace, "contractAddress" | "timestamp">,
  { orderHash: order_hash, units, tokens }: { orderHash: Hex; units: bigint; tokens: readonly Hex[] },
): Promise<Row<"tradeOrder"> | null> {
  // Nobody can send us an order for other tokens. Where few contracts are indexed, nearly all orders are for those.
  if (!tokens.some(context.isIndexed)) return null;
  return settleOrder(context, place, { order_hash, marketplace: "seaport" }, { units });
}

/** The orders of Seaport, what fills and cancels them, and their sales. */
export const seaport = define(seaportAbi, {
  async OrderFulfilled({ place, args }, context) {
    const offer = withContracts(args.offer, context);
    const consideration = withContracts(args.consideration, context);
    const fill = fillOf({ ...args, offer, consideration }, place);
    const tokens = [...offer, ...consideration].map(({ token }) => token);
    const known = await fillOrder(context, place, { orderHash: args.orderHash, units: countUnits(fill), tokens });
    await context.recordStep(place, { kind: "fill", fill: withoutTips(fill, known) });
  },

  async OrdersMatched({ place, args: { orderHashes } }, context) {
    await context.recordStep(place, { kind: "match", orderHashes });
  },

  async OrderValidated({ place, args: { orderHash: order_hash, orderParameters } }, context) {
    const terms = readTerms(orderParameters, { exchange: place.contractAddress, chainId: context.chainId });
    if (!terms || !context.isIndexed(terms.contract_address)) return;
    // The log has no counter. The order can only be signed for the one that its maker has now.
    const key = { exchange_address: place.contractAddress, maker: terms.maker };
    const row = await context.store.find("orderCounter", key);
    const { conduitKey: conduit_key } = orderParameters;
    const opened = conduit_key === zeroHash ? undefined : await context.store.find("conduit", { conduit_key });
    // For a conduit from before the first block indexed, the address follows from the key.
    const conduit = opened?.conduit_address ?? operatorOf(conduit_key, { exchange: place.contractAddress });
    const operator = moverOf(orderParameters, { operator: conduit });
    if (!operator) return;
    await placeOrder(
      context,
      place,
      { order_hash, marketplace: "seaport" },
      { ...terms, counter: row?.counter ?? 0n, operator },
    );
  },

  async OrderCancelled({ place, args: { orderHash: order_hash } }, context) {
    await settleOrder(context, place, { order_hash, marketplace: "seaport" }, { units: 0n, isCancelled: true });
  },

  async CounterIncremented({ place, args: { newCounter: counter, offerer: maker } }, { store }) {
    const { contractAddress: exchange_address, timestamp } = place;
    await store.upsert("orderCounter", { exchange_address, maker, counter }, { counter });
    await store.upsert("raisedCounter", { exchange_address, maker, counter, timestamp }, { timestamp });
  },
});

/** The addresses of conduits, by their keys. */
export const conduits = define(conduitControllerAbi, {
  async NewConduit({ args: { conduitKey: conduit_key, conduit: conduit_address } }, { store }) {
    await store.upsert("conduit", { conduit_key, conduit_address }, { conduit_address });
  },
});

/** Who may move all of an account's tokens of a contract: a row for each log, the last of which counts. */
export const approvals = define(approvalAbi, {
  async ApprovalForAll({ place, args: { owner, operator, approved: is_approved } }, { store }) {
    const { blockNumber: block_number, logIndex: log_index, contractAddress: contract_address } = place;
    await store.insert("approval", { block_number, log_index, contract_address, owner, operator, is_approved });
  },
});
