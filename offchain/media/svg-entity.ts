import { readToken } from "./svg-token.ts";

/** Limits for entities, which are expanded before the document type is removed. Honest ones name namespaces. */
const MAX_ENTITIES = 50;
const MAX_ENTITY_LENGTH = 1000;
/** The largest growth by all of them together. */
const MAX_GROWTH = 1_000_000;

const REFERENCE = /&([\w.-]+);/g;

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

/** Decodes character references as browsers do in attributes, with any number of leading zeros. */
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

/** Expands the plain entities of a document type. Those that load, nest or grow stay, and then mean nothing. */
export function expandEntities(text: string): string {
  const head = text.slice(0, 100_000);
  const start = head.search(/<!DOCTYPE/i);
  const doctype = start < 0 ? "" : (readToken(head, start)?.text ?? "");
  const entities = [...doctype.matchAll(/<!ENTITY\s+([\w.-]+)\s+(?:"([^"]*)"|'([^']*)')\s*>/g)].slice(0, MAX_ENTITIES);
  if (entities.length === 0) return text;
  // Once through the text for all of them, which may have millions of characters.
  const uses = new Map<string, number>();
  for (const [, name = ""] of text.matchAll(REFERENCE)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const values = new Map<string, string>();
  let room = MAX_GROWTH;
  for (const [, name = "", double, single] of entities) {
    // As XML does, which reads characters by their numbers where an entity is declared.
    const value = decodeEntities(double ?? single ?? "");
    // The first one of a name is the one that counts.
    if (values.has(name) || /[<&%]/.test(value) || value.length > MAX_ENTITY_LENGTH) continue;
    // Quotes and brackets of an entity in an attribute are text.
    const safe = value.replaceAll('"', "&quot;").replaceAll("'", "&apos;").replaceAll(">", "&gt;");
    const growth = (uses.get(name) ?? 0) * safe.length;
    if (growth > room) continue;
    room -= growth;
    values.set(name, safe);
  }
  return text.replaceAll(REFERENCE, (whole, name: string) => values.get(name) ?? whole);
}
