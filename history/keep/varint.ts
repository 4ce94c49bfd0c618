/** A buffer to write to. It grows. */
export type Bytes = { bytes: Uint8Array; length: number };

/** A buffer to read from, and the index of the next byte. */
export type Reader = { bytes: Buffer; at: number };

/** An empty buffer. */
export function createBytes(): Bytes {
  return { bytes: new Uint8Array(1024), length: 0 };
}

/** Writes a whole number from 0 to 2^53 - 1: seven bits a byte, the lowest first; bit 0x80 says that more follow. */
export function writeVarint(target: Bytes, value: number): void {
  reserve(target, 8);
  let rest = value;
  while (rest > 127) {
    target.bytes[target.length++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  target.bytes[target.length++] = rest;
}

/** Writes bytes as they are, without their length. */
export function writeAll(target: Bytes, bytes: Uint8Array): void {
  reserve(target, bytes.length);
  if (bytes.length > 64) target.bytes.set(bytes, target.length);
  else for (let at = 0; at < bytes.length; at++) target.bytes[target.length + at] = bytes[at]!;
  target.length += bytes.length;
}

/** @throws RangeError beyond the end */
export function readVarint(source: Reader): number {
  const { bytes } = source;
  let byte = bytes[source.at++];
  if (byte! < 128) return byte!;
  let value = 0;
  let unit = 1;
  for (;;) {
    if (byte === undefined) throw new RangeError("The bytes end in the middle of a number.");
    value += (byte & 127) * unit;
    if (byte < 128) return value;
    unit *= 128;
    byte = bytes[source.at++];
  }
}

/** A copy of the next bytes. @throws RangeError beyond the end */
export function takeBytes(source: Reader, length: number): Buffer {
  const end = source.at + length;
  if (end > source.bytes.length) throw new RangeError("The bytes end too early.");
  const taken = Buffer.from(new ArrayBuffer(length));
  source.bytes.copy(taken, 0, source.at, end);
  source.at = end;
  return taken;
}

function reserve(target: Bytes, size: number): void {
  if (target.length + size <= target.bytes.length) return;
  const bytes = new Uint8Array(Math.max(target.bytes.length * 2, target.length + size));
  bytes.set(target.bytes);
  target.bytes = bytes;
}
