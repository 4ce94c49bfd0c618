import { expect, test } from "vitest";
import { ADDRESS_BYTES } from "../word.ts";
import { addContract, isTracked, markTracked, createContractTable } from "./contract-table.ts";

test("a contract is tracked from when it is, also where the table becomes longer with it", () => {
  const table = createContractTable();
  const addressOf = (number: number) => Buffer.from(number.toString(16).padStart(ADDRESS_BYTES * 2, "0"), "hex");
  const isEven = (number: number) => number % 2 === 0;
  for (let number = 0; number < 5000; number++) {
    // Half of them before they have moved anything.
    if (!isEven(number)) addContract(table, addressOf(number), 0, { isErc1155: true });
    else markTracked(table, addressOf(number));
    expect([number, isTracked(table, addressOf(number))]).toEqual([number, isEven(number)]);
  }
  for (let number = 0; number < 5000; number++)
    expect([number, isTracked(table, addressOf(number))]).toEqual([number, isEven(number)]);
});
