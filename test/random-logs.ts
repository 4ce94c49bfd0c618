import { type Hex, zeroAddress } from "viem";
import { batchLog, consecutiveLog, type LogToWrite, logOf, singleLog, transferLog, words } from "./raw-log.ts";

/** Numbers from 0 to below 1, the same ones for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Logs of all standards on a handful of tokens and accounts, so that they meet each other: whatever one of them says
 * depends on those before.
 */
export function randomLogs(
  random: () => number,
  { accounts, count }: { accounts: Hex[]; count: number },
): LogToWrite[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const number = (below: number) => BigInt(Math.floor(random() * below));
  const party = () => pick([...accounts.slice(0, 4), zeroAddress]);
  const kinds: (() => LogToWrite)[] = [
    () => transferLog(party(), party(), number(8)),
    () => transferLog(party(), party(), number(8)),
    () => logOf("Transfer(address,address,uint256)", [], words(party(), party(), number(8))),
    () => logOf("Transfer(address,address,uint256)", [party(), party()], words(number(8))),
    () => consecutiveLog(party(), party(), number(8), number(12)),
    () => singleLog(party(), party(), 20n + number(5), number(9)),
    () => singleLog(party(), party(), 20n + number(5), number(9)),
    () =>
      batchLog(party(), party(), [
        [20n + number(5), 20n + number(5)],
        [number(9), number(9)],
      ]),
    () => batchLog(party(), party(), words(64n, 64n, 9n)),
    // Now and then by both standards.
    () => singleLog(party(), party(), number(40), 1n),
    () => logOf("MetadataUpdate(uint256)", [], words(number(40))),
    () => logOf("MetadataUpdate(uint256)", [number(40)], "0x"),
    () => logOf("ContractURIUpdated(string,string)", [], words(64n, 96n, 0n, 0n)),
    () => logOf("ContractURIUpdated(string)", [], words(32n, 0n)),
    () => logOf("ContractMetadataUpdated(address,string,string)", [party()], words(64n, 96n, 0n, 0n)),
  ];
  return Array.from({ length: count }, () => pick(kinds)());
}

/** Logs of a CryptoPunks market, accepted bids among them, each with the Transfer log that goes before. */
export function randomPunkLogs(
  random: () => number,
  { accounts, count }: { accounts: Hex[]; count: number },
): LogToWrite[] {
  const pick = () => accounts[Math.floor(random() * 4)]!;
  return Array.from({ length: count }).flatMap(() => {
    const [seller, buyer, punk, kind] = [pick(), pick(), BigInt(Math.floor(random() * 6)), Math.floor(random() * 4)];
    if (kind === 0) return [logOf("Assign(address,uint256)", [buyer], words(punk))];
    const transfer = logOf("Transfer(address,address,uint256)", [seller, buyer], words(1n));
    if (kind === 1) return [transfer, logOf("PunkTransfer(address,address,uint256)", [seller, buyer], words(punk))];
    const receiver = kind === 2 ? zeroAddress : buyer;
    return [transfer, logOf("PunkBought(uint256,uint256,address,address)", [punk, seller, receiver], words(5n))];
  });
}
