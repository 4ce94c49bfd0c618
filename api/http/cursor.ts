import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { invalid } from "./errors.ts";

/** Bytes of the HMAC that a cursor carries: nobody guesses 128 bits over HTTP. */
const MAC_BYTES = 16;

/** A key of one place in a list, as the list's order has it. Big numbers are decimal strings. */
export type SortKey = (string | number)[];

/**
 * What a cursor belongs to: list, network, path and filters, but not `limit`, which may change on the way.
 *
 * Its parts are joined by a character that none of them can contain.
 */
export const scopeOf = (...parts: string[]) => parts.join("\n");

/** A place in a list as URL-safe text: the HMAC of scope and key, then the key. Stateless, so that it holds for ever. */
export function encodeCursor(secret: KeyObject, { scope, key }: { scope: string; key: SortKey }): string {
  const payload = JSON.stringify(key);
  return Buffer.concat([macOf(secret, scope, payload), Buffer.from(payload)]).toString("base64url");
}

/**
 * The place that a cursor names.
 *
 * @throws HttpError 400 when we did not issue it for this very list
 */
export function decodeCursor(secret: KeyObject, { scope, cursor }: { scope: string; cursor: string }): SortKey {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.toString("utf8", MAC_BYTES);
  const isOurs =
    bytes.length > MAC_BYTES &&
    // Node skips characters that aren't base64url: only the text that we issued is a cursor.
    bytes.toString("base64url") === cursor &&
    timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(secret, scope, payload));
  const key = isOurs ? parseKey(payload) : undefined;
  if (!key) throw invalid("cursor is invalid. Expected one from a previous answer of this list, unchanged.");
  return key;
}

/** Undefined for what isn't one: the end of a longer scope may stand before it, and the HMAC is the same. */
function parseKey(payload: string): SortKey | undefined {
  return payload.startsWith("[") ? (JSON.parse(payload) as SortKey) : undefined;
}

/** How the pages of one list are cut and continued. @throws HttpError 400 for a cursor that isn't of this list */
export const readPaging = (
  secret: KeyObject,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
  scope: string,
) => ({
  after: cursor === undefined ? undefined : decodeCursor(secret, { scope, cursor }),
  limit,
  encode: (key: SortKey) => encodeCursor(secret, { scope, key }),
});

function macOf(secret: KeyObject, scope: string, payload: string): Buffer {
  return createHmac("sha256", secret).update(`${scope}\n${payload}`).digest().subarray(0, MAC_BYTES);
}
