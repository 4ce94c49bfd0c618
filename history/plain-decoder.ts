import type { AbiEvent, AbiParameter, Hex } from "viem";
import type { ChainLog } from "./chain-log.ts";

/** Reads a value from hex digits, of which the first is at `at`; undefined where it isn't written as compilers do. */
type Read = (data: string, at: number) => unknown;
type Item = { words: number; read: Read };
type Field = { name: string; item: Item; isArray: boolean };

const WORD = 64;
const ZEROS = "0".repeat(WORD);

/**
 * Decodes logs of an event as every compiler writes them, a third of the time that Ponder's function takes: arrays lie
 * one behind the other, and nothing comes after them. It returns undefined for any other log, which says nothing of it.
 * Undefined for an event with types that aren't known here.
 */
export function createPlainDecoder({ inputs }: AbiEvent): ((log: ChainLog) => object | undefined) | undefined {
  const indexed = fieldsOf(inputs.filter((input) => "indexed" in input && input.indexed));
  const others = fieldsOf(inputs.filter((input) => !("indexed" in input && input.indexed)));
  if (!indexed || !others || others.length === 0 || indexed.some(({ isArray }) => isArray)) return undefined;
  return ({ topics, data }) => {
    const args: Record<string, unknown> = {};
    for (const [place, { name, item }] of indexed.entries()) {
      const topic = topics[place + 1];
      if (!topic) return undefined;
      args[name] = item.read(topic, 2);
      if (args[name] === undefined) return undefined;
    }
    return readFields(others, data, args);
  };
}

function readFields(fields: readonly Field[], data: Hex, args: Record<string, unknown>): object | undefined {
  let head = 2;
  let next = 2 + fields.length * WORD;
  if (data.length < next) return undefined;
  for (const { name, item, isArray } of fields) {
    if (isArray) {
      if (readSmall(data, head) !== (next - 2) / 2) return undefined;
      const count = readSmall(data, next);
      if (count === undefined) return undefined;
      const end = next + WORD * (1 + count * item.words);
      if (end > data.length) return undefined;
      const list: unknown[] = [];
      for (let at = next + WORD; at < end; at += WORD * item.words) list.push(item.read(data, at));
      if (list.includes(undefined)) return undefined;
      args[name] = list;
      next = end;
    } else {
      args[name] = item.read(data, head);
      if (args[name] === undefined) return undefined;
    }
    head += WORD;
  }
  return next === data.length ? args : undefined;
}

function fieldsOf(inputs: readonly AbiParameter[]): Field[] | undefined {
  const fields = inputs.map((input) => {
    const isArray = input.type.endsWith("[]");
    const item = itemOf(isArray ? { ...input, type: input.type.slice(0, -2) } : input);
    return input.name && item && (isArray || item.words === 1) ? { name: input.name, item, isArray } : undefined;
  });
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function itemOf(input: AbiParameter): Item | undefined {
  const read = READS[input.type];
  if (read) return { words: 1, read };
  if (input.type !== "tuple" || !("components" in input)) return undefined;
  const parts = input.components.map(({ name, type }) => ({ name, read: READS[type] }));
  if (!parts.every((part): part is { name: string; read: Read } => Boolean(part.name && part.read))) return undefined;
  return {
    words: parts.length,
    read: (data, at) => {
      const tuple: Record<string, unknown> = {};
      for (const [place, { name, read: readPart }] of parts.entries()) {
        tuple[name] = readPart(data, at + place * WORD);
        if (tuple[name] === undefined) return undefined;
      }
      return tuple;
    },
  };
}

/** Digits are lower case already. What stands before an address is ignored, as Ponder ignores it. */
const READS: Record<string, Read> = {
  address: (data, at) => `0x${data.slice(at + 24, at + WORD)}`,
  bytes32: (data, at) => `0x${data.slice(at, at + WORD)}`,
  uint256: (data, at) => BigInt(`0x${data.slice(at, at + WORD)}`),
  uint8: (data, at) => readSmall(data, at),
};

/** A number of at most 32 bits. */
function readSmall(data: string, at: number): number | undefined {
  return data.startsWith(ZEROS.slice(8), at) ? Number.parseInt(data.slice(at + 56, at + WORD), 16) : undefined;
}
