import { ponder } from "ponder:registry";
import { approval, conduit, orderCounter } from "ponder:schema";
import { zeroHash } from "viem";
import { operatorOf, readTerms } from "../abis/seaport-order.ts";
import { placeOf } from "./record.ts";
import { placeOrder, settleOrder } from "./record-order.ts";

/** What happens on chain to Seaport's orders beside being filled, and to what they rest on. */

ponder.on("Seaport:OrderValidated", async ({ event, context }) => {
  const { orderHash: order_hash, orderParameters } = event.args;
  const place = placeOf(event);
  const terms = readTerms(orderParameters, { exchange: place.contractAddress });
  if (!terms) return;
  // The log doesn't say: it can only be the one that the maker has now.
  const row = await context.db.find(orderCounter, { exchange_address: place.contractAddress, maker: terms.maker });
  const { conduitKey: conduit_key } = orderParameters;
  const opened = conduit_key === zeroHash ? undefined : await context.db.find(conduit, { conduit_key });
  // For those opened before the first block indexed, the address follows from the key.
  const operator = opened?.conduit_address ?? operatorOf(conduit_key, { exchange: place.contractAddress });
  await placeOrder(
    context,
    place,
    { order_hash, marketplace: "seaport" },
    { ...terms, counter: row?.counter ?? 0n, operator },
  );
});

ponder.on("Seaport:OrderCancelled", async ({ event, context }) => {
  const order = { order_hash: event.args.orderHash, marketplace: "seaport" as const };
  await settleOrder(context, placeOf(event), order, { units: 0n, isCancelled: true });
});

ponder.on("Seaport:CounterIncremented", async ({ event, context }) => {
  const { newCounter: counter, offerer: maker } = event.args;
  await context.db
    .insert(orderCounter)
    .values({ exchange_address: event.log.address, maker, counter })
    .onConflictDoUpdate({ counter });
});

ponder.on("ConduitController:NewConduit", async ({ event, context }) => {
  const { conduitKey: conduit_key, conduit: conduit_address } = event.args;
  await context.db.insert(conduit).values({ conduit_key, conduit_address }).onConflictDoUpdate({ conduit_address });
});

ponder.on("Approval:ApprovalForAll", async ({ event, context }) => {
  const { owner, operator, approved: is_approved } = event.args;
  const { blockNumber: block_number, logIndex: log_index, contractAddress: contract_address } = placeOf(event);
  await context.db.insert(approval).values({ block_number, log_index, contract_address, owner, operator, is_approved });
});
