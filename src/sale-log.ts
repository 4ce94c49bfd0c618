import type { Hex } from "viem";
import type { Log } from "./define.ts";
import type { Sale } from "./sale.ts";
import type { Context } from "./store.ts";

/** The place of a sale: its log, and the exchange that wrote it. */
export type SalePlace = { logIndex: number; exchangeAddress: Hex };

/** The place of a sale that this log tells. */
export const placeOfSale = ({ place }: Log): SalePlace => ({
  logIndex: place.logIndex,
  exchangeAddress: place.contractAddress,
});

/** Adds what a log sells to the sales of its transaction. */
export async function recordSales(context: Context, { place }: Log, sales: Sale[]): Promise<void> {
  await context.recordStep(place, { kind: "sales", sales });
}
