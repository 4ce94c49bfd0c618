import { crc32, deflateSync } from "node:zlib";

/** A square picture of palette entries, row by row. */
export type Picture = { size: number; pixels: Uint8Array; palette: readonly Colour[] };

/** Red, green, blue. */
export type Colour = readonly [number, number, number];

/** Source: the PNG specification (W3C), colour type 3. */
export function encodePng({ size, pixels, palette }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 3, 0, 0, 0], 8);

  const rows = Buffer.alloc(size * (size + 1));
  for (let y = 0; y < size; y += 1) rows.set(pixels.subarray(y * size, (y + 1) * size), y * (size + 1) + 1);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk("IHDR", header),
    pngChunk("PLTE", Buffer.from(palette.flat())),
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/**
 * An animation that repeats for ever, of frames of one size and palette.
 *
 * Our choice: no compression, because codes that are cleared before they grow need no dictionary. The palette holds at
 * most 128 colours for that. Source: the GIF89a specification.
 */
export function encodeGif(frames: readonly Picture[], { frameMs }: { frameMs: number }): Buffer {
  const [first] = frames;
  if (!first) throw new Error("A GIF without frames. Expected at least one.");
  const colours = Buffer.alloc(128 * 3);
  colours.set(first.palette.flat());

  return Buffer.concat([
    Buffer.from("GIF89a"),
    uint16(first.size),
    uint16(first.size),
    // A table of 2^7 colours.
    Buffer.from([0xf6, 0, 0]),
    colours,
    Buffer.from([0x21, 0xff, 11]),
    Buffer.from("NETSCAPE2.0"),
    Buffer.from([3, 1, 0, 0, 0]),
    ...frames.flatMap(({ size, pixels }) => [
      Buffer.from([0x21, 0xf9, 4, 0]),
      uint16(frameMs / 10),
      Buffer.from([0, 0]),
      Buffer.from([0x2c]),
      uint16(0),
      uint16(0),
      uint16(size),
      uint16(size),
      Buffer.from([0, GIF_CODE_SIZE]),
      gifBlocks(pixels),
    ]),
    Buffer.from([0x3b]),
  ]);
}

const GIF_CODE_SIZE = 7;
const GIF_CLEAR = 128;
const GIF_END = 129;
/** After so many pixels a decoder's codes would grow from 8 to 9 bits. */
const GIF_RUN = 126;

function gifBlocks(pixels: Uint8Array): Buffer {
  const codes: number[] = [];
  for (let at = 0; at < pixels.length; at += GIF_RUN) codes.push(GIF_CLEAR, ...pixels.subarray(at, at + GIF_RUN));
  codes.push(GIF_END);

  const blocks: Buffer[] = [];
  for (let at = 0; at < codes.length; at += 255) {
    const block = codes.slice(at, at + 255);
    blocks.push(Buffer.from([block.length, ...block]));
  }
  return Buffer.concat([...blocks, Buffer.from([0])]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

function uint16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16LE(value);
  return buffer;
}
