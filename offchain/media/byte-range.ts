/** A Range header: from `start` to `end` or to the last byte, or the `last` so many bytes. */
export type ByteRange = { start: number; end?: number } | { last: number };

/** The first and last byte, both included. */
export type ResolvedRange = { start: number; end: number };

/** No single range is longer. */
const MAX_LENGTH = 100;

/**
 * Parses a Range header. Undefined for several ranges, other units and nonsense: answering with everything is correct
 * then.
 */
export function parseRange(header: string | null | undefined): ByteRange | undefined {
  const text = header ?? "";
  // A header may have thousands of blanks, through which this would go once for each.
  const isLong = text.length > MAX_LENGTH;
  const [, start = "", end = ""] = (!isLong && /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(text)) || [];
  if (start === "") return end === "" ? undefined : { last: Number(end) };
  if (end !== "" && Number(end) < Number(start)) return undefined;
  return end === "" ? { start: Number(start) } : { start: Number(start), end: Number(end) };
}

/** The bytes of content with `size` bytes that are meant. Undefined: all of it. Source: RFC 9110, 14.1.2. */
export function resolveRange(range: ByteRange | undefined, size: number): ResolvedRange | "unsatisfiable" | undefined {
  if (!range) return undefined;
  if ("last" in range)
    return range.last === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(size - range.last, 0), end: size - 1 };
  if (range.start >= size) return "unsatisfiable";
  return { start: range.start, end: Math.min(range.end ?? size - 1, size - 1) };
}
