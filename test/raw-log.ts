import { encodeAbiParameters, type Hex, keccak256, numberToHex, parseAbiParameters, toHex, zeroAddress } from "viem";

/** Topics and data of any log, as `Emitter.write` takes them. */
export type LogToWrite = { topics: Hex[]; data: Hex };

/** 32 bytes of a number or an address. */
export const word = (value: bigint | Hex): Hex => numberToHex(BigInt(value), { size: 32 });

/** The bytes of words one after the other. */
export const words = (...values: (bigint | Hex)[]): Hex => `0x${values.map((value) => word(value).slice(2)).join("")}`;

/** A log of an event, its indexed arguments as words. */
export const logOf = (signature: string, indexed: (bigint | Hex)[], data: Hex = "0x"): LogToWrite => ({
  topics: [keccak256(toHex(signature)), ...indexed.map(word)],
  data,
});

/** A Transfer with four topics. `data`: what stands behind them, where there should be nothing. */
export const transferLog = (from: Hex, to: Hex, tokenId: bigint, data?: Hex): LogToWrite =>
  logOf("Transfer(address,address,uint256)", [from, to, tokenId], data);

/** A ConsecutiveTransfer of ERC-2309. */
export const consecutiveLog = (from: Hex, to: Hex, first: bigint, last: bigint): LogToWrite =>
  logOf("ConsecutiveTransfer(uint256,uint256,address,address)", [first, from, to], words(last));

/** A TransferSingle of ERC-1155. */
export const singleLog = (from: Hex, to: Hex, id: bigint, value: bigint): LogToWrite =>
  logOf("TransferSingle(address,address,address,uint256,uint256)", [zeroAddress, from, to], words(id, value));

/** @param data the two arrays, or bytes that are none */
export const batchLog = (from: Hex, to: Hex, data: [ids: bigint[], values: bigint[]] | Hex): LogToWrite =>
  logOf(
    "TransferBatch(address,address,address,uint256[],uint256[])",
    [zeroAddress, from, to],
    typeof data === "string" ? data : encodeAbiParameters(parseAbiParameters("uint256[], uint256[]"), data),
  );
