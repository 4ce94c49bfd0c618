import { endOf } from "../text.ts";

/** A tag, or other markup in angle brackets. `end`: where the text goes on. */
export type Token =
  | { kind: "open"; text: string; name: string; isEmpty: boolean; end: number }
  | { kind: "close"; text: string; name: string; end: number }
  | { kind: "comment" | "cdata" | "doctype" | "instruction"; text: string; end: number };

/** Reads the markup that begins at `start`. Undefined where it doesn't end. */
export function readToken(source: string, start: number): Token | undefined {
  const until = (mark: string, from: number) => {
    const found = source.indexOf(mark, from);
    return found < 0 ? undefined : found + mark.length;
  };
  const other = (kind: "comment" | "cdata" | "doctype" | "instruction", end: number | undefined): Token | undefined =>
    end === undefined ? undefined : { kind, text: source.slice(start, end), end };
  if (source.startsWith("<!--", start)) return other("comment", until("-->", start + 4));
  if (source.startsWith("<![CDATA[", start)) return other("cdata", until("]]>", start + 9));
  if (source.startsWith("<?", start)) return other("instruction", until("?>", start + 2));
  if (source.startsWith("<!", start)) return other("doctype", endOfDoctype(source, start));
  const end = endOfTag(source, start + 1);
  if (end === undefined) return undefined;
  const text = source.slice(start, end);
  // The name is read without its prefix, which can be bound to any namespace. It ends like in `readTag`, also at a
  // quote.
  const name = (/^<\/?\s*(?:[^\s=>"'/<:]*:)?([^\s=>"'/<:]+)/.exec(text)?.[1] ?? "").toLowerCase();
  if (text.startsWith("</")) return { kind: "close", text, name, end };
  return { kind: "open", text, name, isEmpty: /\/\s*>$/.test(text), end };
}

/**
 * `source`: the attribute as it is written, with the white space before it. `key` and `value` aren't decoded or changed
 * in case.
 */
type SvgAttribute = { source: string; key: string; value: string };

const SPACE = /\s*/y;
const NAME = /[^\s=>"'/<]*/y;

/** Splits an opening tag into the parts that XML knows. Whatever else is in it is left out. */
export function readTag(tag: string): { head: string; attributes: SvgAttribute[]; tail: string } {
  const head = tag.slice(0, endOf(NAME, tag, 1));
  const attributes: SvgAttribute[] = [];
  for (let at = head.length; at < tag.length;) {
    const keyStart = endOf(SPACE, tag, at);
    const space = tag.slice(at, keyStart);
    const rest = keyStart < tag.length - 2 ? "" : tag.slice(keyStart);
    if (rest === ">" || rest === "/>") return { head, attributes, tail: space + rest };
    const keyEnd = endOf(NAME, tag, keyStart);
    const equals = endOf(SPACE, tag, keyEnd);
    const open = tag[equals] === "=" ? endOf(SPACE, tag, equals + 1) : equals;
    const quote = tag[open];
    const close = quote === '"' || quote === "'" ? tag.indexOf(quote, open + 1) : -1;
    if (close >= 0 && keyEnd > keyStart && open > equals) {
      const source = `${space || " "}${tag.slice(keyStart, close + 1)}`;
      attributes.push({ source, key: tag.slice(keyStart, keyEnd), value: tag.slice(open + 1, close) });
    }
    at = close >= 0 ? close + 1 : Math.max(open, keyStart + 1);
  }
  return { head, attributes, tail: /\/\s*>$/.test(tag) ? "/>" : ">" };
}

function endOfTag(source: string, from: number): number | undefined {
  let quote = "";
  for (let i = from; i < source.length; i++) {
    const character = source[i]!;
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === ">") return i + 1;
  }
  return undefined;
}

/** Where a document type ends. Its declarations may have brackets in quotes and comments. */
function endOfDoctype(source: string, start: number): number | undefined {
  let isInside = false;
  for (let i = start + 2; i < source.length; i++) {
    const character = source[i];
    if (character === '"' || character === "'") i = source.indexOf(character, i + 1);
    else if (source.startsWith("<!--", i)) i = source.indexOf("-->", i + 4);
    else if (source.startsWith("<?", i)) i = source.indexOf("?>", i + 2);
    else if (character === "[") isInside = true;
    else if (character === "]") isInside = false;
    else if (character === ">" && !isInside) return i + 1;
    if (i < 0) return undefined;
  }
  return undefined;
}
