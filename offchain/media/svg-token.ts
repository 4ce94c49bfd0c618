/** A tag, or what else stands between angle brackets; `end` is where the text goes on. */
export type Token =
  | { kind: "open"; text: string; name: string; isEmpty: boolean; end: number }
  | { kind: "close"; text: string; name: string; end: number }
  | { kind: "comment" | "cdata" | "doctype" | "instruction"; text: string; end: number };

/** The markup that begins at `start`. Undefined where it has no end. */
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
  // Without its namespace: a prefix can be bound to any.
  const name = (/^<\/?\s*(?:[^\s/>:]*:)?([^\s/>:]+)/.exec(text)?.[1] ?? "").toLowerCase();
  if (text.startsWith("</")) return { kind: "close", text, name, end };
  return { kind: "open", text, name, isEmpty: /\/\s*>$/.test(text), end };
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

function endOfDoctype(source: string, start: number): number | undefined {
  const end = source.indexOf(">", start);
  const subset = source.indexOf("[", start);
  if (subset < 0 || (end >= 0 && end < subset)) return end < 0 ? undefined : end + 1;
  const close = /\]\s*>/g;
  close.lastIndex = subset;
  const found = close.exec(source);
  return found ? found.index + found[0].length : undefined;
}
