import { readToken } from "./svg-token.ts";

/** Entities of a document type are put in before it goes; honest ones name namespaces. */
const MAX_ENTITIES = 50;
const MAX_ENTITY_LENGTH = 1000;
/** Of all of them together. */
const MAX_GROWTH = 1_000_000;

const NAMED: Record<string, string> = {
  colon: ":",
  tab: "\t",
  newline: "\n",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  lpar: "(",
  rpar: ")",
  sol: "/",
};

/** Characters for references to them, as a browser reads them in attributes: with any number of zeros in front. */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#x([\da-f]+)|#(\d+)|([a-z]+));?/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    },
  );
}

/** Plain entities of the document type are put in; those that load, nest or grow are left, and mean nothing then. */
export function expandEntities(text: string): string {
  const head = text.slice(0, 100_000);
  const start = head.search(/<!DOCTYPE/i);
  const doctype = start < 0 ? "" : (readToken(head, start)?.text ?? "");
  let result = text;
  const entities = [...doctype.matchAll(/<!ENTITY\s+([\w.-]+)\s+(?:"([^"]*)"|'([^']*)')\s*>/g)].slice(0, MAX_ENTITIES);
  let room = MAX_GROWTH;
  for (const [, name = "", double, single] of entities) {
    const value = double ?? single ?? "";
    if (/[<&%]/.test(value) || value.length > MAX_ENTITY_LENGTH) continue;
    // In quotes an entity's own quotes and brackets are text.
    const safe = value.replaceAll('"', "&quot;").replaceAll("'", "&apos;").replaceAll(">", "&gt;");
    const growth = (result.split(`&${name};`).length - 1) * safe.length;
    if (growth > room) continue;
    room -= growth;
    result = result.replaceAll(`&${name};`, () => safe);
  }
  return result;
}
