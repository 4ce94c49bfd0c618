import { readOffset } from "./call.ts";
import { cleanText, toLabel } from "../text.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Text that a contract returned: an ABI string, or bytes32, which older contracts use. Undefined where it is neither.
 * Invalid UTF-8 becomes U+FFFD and NUL is removed, because Postgres accepts neither.
 */
export function readText(data: Buffer, { maxBytes }: { maxBytes: number }): string | undefined {
  const bytes = findBytes(data);
  return bytes && cleanText(decoder.decode(bytes.subarray(0, maxBytes)));
}

/** A name for lists: readable characters on one line, cut to `maxLength`. */
export function readLabel(data: Buffer, { maxLength }: { maxLength: number }): string {
  // A character takes up to four bytes. Twice that many are read, because white space at both ends is removed first.
  return toLabel(readText(data, { maxBytes: maxLength * 8 }) ?? "", maxLength);
}

/** A bool that a contract returned, undefined where it is no proper one. */
export function readBool(data: Buffer): boolean | undefined {
  if (data.length < 32) return undefined;
  const word = data.subarray(0, 32);
  if (word.subarray(0, 31).some((byte) => byte !== 0)) return undefined;
  return word[31] === 1 ? true : word[31] === 0 ? false : undefined;
}

/** A number up to `max`, undefined where it is larger or no number. */
export function readSmallInteger(data: Buffer, { max }: { max: number }): number | undefined {
  if (data.length !== 32 || data.subarray(0, 31).some((byte) => byte !== 0)) return undefined;
  return data[31]! <= max ? data[31] : undefined;
}

/** Whether the answer is an address other than zero. */
export function isAddressAnswer(data: Buffer): boolean {
  return (
    data.length >= 32 &&
    data.subarray(0, 12).every((byte) => byte === 0) &&
    data.subarray(12, 32).some((byte) => byte !== 0)
  );
}

function findBytes(data: Buffer): Buffer | undefined {
  if (data.length === 32) return data.subarray(0, data.indexOf(0) < 0 ? 32 : data.indexOf(0));
  try {
    const start = readOffset(data, 0);
    const length = readOffset(data, start);
    // Some contracts return fewer bytes than they announce: those that are there are read.
    return data.subarray(start + 32, Math.min(start + 32 + length, data.length));
  } catch {
    return undefined;
  }
}
