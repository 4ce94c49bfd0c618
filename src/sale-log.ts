import type { Hex } from "viem";
import type { Log } from "./define.ts";
import type { Sale } from "./sale.ts";
import type { Context } from "./store.ts";

/** Where an exchange's log of a sale stands. */
export type SalePlace = { logIndex: number; exchangeAddress: Hex };

export const placeOfSale = ({ place }: Log): SalePlace => ({
  logIndex: place.logIndex,
  exchangeAddress: place.contractAddress,
});

/** Makes what a log sells a step in the trail of its transaction. */
export async function recordSales(context: Context, { place }: Log, sales: Sale[]): Promise<void> {
  await context.recordStep(place, { kind: "sales", sales });
}
