import { concatHex, type Hex, numberToHex, size } from "viem";

/** Mints in one transaction. */
export const MINTS_PER_CALL = 100;

const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const LOOP_START = 6;

/**
 * A contract that writes 100 ERC-721 Transfer logs whenever it is called, from the zero address to the caller, with
 * token ids that count up from 0. By hand: it is 60 bytes, and nothing has to be compiled.
 */
export function minterBytecode(): Hex {
  const code = concatHex([
    "0x5f54", // sload(0): the next id                    → id
    "0x80", // dup1
    concatHex(["0x60", numberToHex(MINTS_PER_CALL, { size: 1 })]),
    "0x01", // add                                        → id, end
    "0x5b", // jumpdest: LOOP_START
    "0x81335f", // dup2, caller, 0                        → id, end, id, to, from
    concatHex(["0x7f", TRANSFER_TOPIC]),
    "0x5f5fa4", // log4 without data                      → id, end
    "0x90600101", // swap1, add 1                         → end, id + 1
    "0x90", // swap1                                      → id, end
    "0x818111", // dup2, dup2, gt: end > id
    concatHex(["0x60", numberToHex(LOOP_START, { size: 1 })]),
    "0x57", // jumpi                                      → id, end
    "0x5f55", // sstore(0, end)
    "0x00",
  ]);
  // Copies what follows it to memory and returns it.
  const deploy = concatHex(["0x60", numberToHex(size(code), { size: 1 }), "0x80600a5f395ff3fe"]);
  return concatHex([deploy, code]);
}
