/**
 * Reads JSON text as bytes, without making values of it. Answers have hundreds of bytes for a log, and most of that
 * repeats: making strings and objects of it all would take several times as long as reading it.
 */
export type Scan = {
  bytes: Uint8Array;
  at: number;
  /** Of the last string: the index of its first byte, and the one after its last. */
  start: number;
  end: number;
};

/** Thrown where the text is not the JSON that was expected. */
export class JsonError extends Error {}

/** The first byte of a list, to compare with `peek`. */
export const OPEN_LIST = 0x5b;

const [QUOTE, BACKSLASH, COMMA, COLON, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5d, 0x7b, 0x7d,
] as const;

/** The next byte that is no space, 0 at the end. The scan doesn't move past it. */
export function peek(scan: Scan): number {
  const { bytes } = scan;
  let { at } = scan;
  while (at < bytes.length && bytes[at]! <= 0x20) at++;
  scan.at = at;
  return at < bytes.length ? bytes[at]! : 0;
}

/** Moves past the next byte that is no space, if it is this one. Returns whether it was. */
function take(scan: Scan, byte: number): boolean {
  if (peek(scan) !== byte) return false;
  scan.at++;
  return true;
}

/** Moves past one byte. @throws JsonError where it is another one */
function expectByte(scan: Scan, byte: number): void {
  if (!take(scan, byte)) throw unexpected(scan);
}

/** Moves past a string, and sets `start` and `end` to what lies between its quotes. */
export function scanString(scan: Scan): void {
  expectByte(scan, QUOTE);
  const { bytes } = scan;
  let { at } = scan;
  scan.start = at;
  for (;;) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === undefined) throw unexpected(scan);
    at += byte === BACKSLASH ? 2 : 1;
  }
  scan.end = at;
  scan.at = at + 1;
}

/** Moves past a value of any kind. */
export function skipValue(scan: Scan): void {
  const first = peek(scan);
  if (first === QUOTE) return scanString(scan);
  const { bytes } = scan;
  if (first === OPEN_OBJECT || first === OPEN_LIST) {
    for (let depth = 0; ;) {
      const byte = peek(scan);
      if (byte === QUOTE) scanString(scan);
      else if (byte === 0) throw unexpected(scan);
      else {
        scan.at++;
        if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
        else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return;
      }
    }
  }
  // A number, true, false or null.
  const { at } = scan;
  while (scan.at < bytes.length && isPlain(bytes[scan.at]!)) scan.at++;
  if (scan.at === at) throw unexpected(scan);
}

/** Reads an object. Runs `read` at each value whose key is in `keys`, with the key's index; skips other values. */
export function scanObject(scan: Scan, keys: readonly Uint8Array[], read: (key: number) => void): void {
  expectByte(scan, OPEN_OBJECT);
  if (take(scan, CLOSE_OBJECT)) return;
  do {
    scanString(scan);
    const key = findKey(scan, keys);
    expectByte(scan, COLON);
    if (key < 0) skipValue(scan);
    else read(key);
  } while (take(scan, COMMA));
  expectByte(scan, CLOSE_OBJECT);
}

/** Reads a list. Runs `read` at each of its values. */
export function scanList(scan: Scan, read: () => void): void {
  expectByte(scan, OPEN_LIST);
  if (take(scan, CLOSE_LIST)) return;
  do read();
  while (take(scan, COMMA));
  expectByte(scan, CLOSE_LIST);
}

/** Moves past a null, if the next value is one. Returns whether it was. */
export function takeNull(scan: Scan): boolean {
  if (peek(scan) !== 0x6e) return false;
  skipValue(scan);
  return true;
}

/** The last string as a quantity, "0x1f". @throws JsonError where it is none, or too large for a number */
export function readQuantity(scan: Scan): number {
  const { bytes, start, end } = scan;
  let value = 0;
  if (end - start < 3 || bytes[start] !== 0x30 || bytes[start + 1] !== LETTER_X) throw unexpected(scan);
  for (let at = start + 2; at < end; at++) {
    const digit = HEX_DIGITS[bytes[at]!]!;
    if (digit > 15) throw unexpected(scan);
    value = value * 16 + digit;
  }
  if (value > Number.MAX_SAFE_INTEGER) throw unexpected(scan);
  return value;
}

/** Moves past a value. Returns the quantity that it is, undefined where it is something else. */
export function takeQuantity(scan: Scan): number | undefined {
  if (peek(scan) !== QUOTE) {
    skipValue(scan);
    return undefined;
  }
  scanString(scan);
  return scan.bytes[scan.start + 1] === LETTER_X ? readQuantity(scan) : undefined;
}

/**
 * Moves past a string of 0x and so many digits. Returns where the digits begin. Whether they are hex is checked when
 * they are decoded.
 */
export function readHexStart(scan: Scan, digits: number): number {
  if (peek(scan) !== QUOTE) throw unexpected(scan);
  const start = scan.at + 3;
  const { bytes } = scan;
  if (bytes[start + digits] !== QUOTE || bytes[start - 1] !== LETTER_X) throw unexpected(scan);
  scan.at = start + digits + 1;
  return start;
}

/** The names of fields as bytes, for `scanObject`. */
export function keysOf(...names: string[]): Uint8Array[] {
  return names.map((name) => Buffer.from(name, "latin1"));
}

/** Decodes hex digits into bytes. Returns false where one of them is no hex digit. */
export function decodeHex(
  bytes: Uint8Array,
  { start, end, to, out }: { start: number; end: number; to: Uint8Array; out: number },
): boolean {
  let seen = 0;
  let place = out;
  for (let at = start; at < end; at += 2) {
    const byte = HEX_BYTES[bytes[at]! | (bytes[at + 1]! << 8)]!;
    seen |= byte;
    to[place++] = byte;
  }
  return seen < NO_BYTE;
}

/** The error for what stands at the scan, with some of the text around it. */
export function unexpected({ bytes, at }: Scan): JsonError {
  const text = Buffer.from(bytes.subarray(Math.max(0, at - 20), at + 20)).toString("latin1");
  return new JsonError(`The answer is cut off or not JSON as expected, at byte ${at} of ${bytes.length}: "${text}".`);
}

const LETTER_X = 0x78;
const NO_BYTE = 256;

/** The value of each byte as a hex digit, 255 where it is none. */
const HEX_DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase());
  return value < 0 ? 255 : value;
});

/** The byte that two digits are, by their two bytes with the first one below the second. `NO_BYTE` where one is no digit. */
const HEX_BYTES = new Uint16Array(2 ** 16).fill(NO_BYTE);
for (const [first, high] of HEX_DIGITS.entries())
  for (const [second, low] of HEX_DIGITS.entries())
    if (high <= 15 && low <= 15) HEX_BYTES[first | (second << 8)] = (high << 4) | low;

function findKey({ bytes, start, end }: Scan, keys: readonly Uint8Array[]): number {
  const length = end - start;
  search: for (let key = 0; key < keys.length; key++) {
    const wanted = keys[key]!;
    if (wanted.length !== length) continue;
    for (let at = 0; at < length; at++) if (bytes[start + at] !== wanted[at]) continue search;
    return key;
  }
  return -1;
}

function isPlain(byte: number): boolean {
  return byte > 0x20 && byte !== COMMA && byte !== CLOSE_LIST && byte !== CLOSE_OBJECT && byte !== QUOTE;
}
