import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { invalid } from "./errors.ts";

/** The length of a cursor's HMAC in bytes. Nobody guesses 128 bits over HTTP. */
const MAC_BYTES = 16;

/** What is said of a text that is no cursor of ours for the list. */
export const INVALID_CURSOR = "cursor is invalid. Expected one from a previous answer of this list, unchanged.";

/** The sort key of an item in a list. Big numbers are decimal strings. */
export type SortKey = (string | number)[];

/**
 * What a cursor belongs to: list, network, path and filters, but not `limit`, which may change between pages.
 *
 * The parts are joined by a character that none of them can have.
 */
export const scopeOf = (...parts: string[]) => parts.join("\n");

/**
 * A place in a list as URL-safe text: the HMAC of scope and key, then the key. Cursors are stateless and never expire.
 */
export function encodeCursor(secret: KeyObject, { scope, key }: { scope: string; key: SortKey }): string {
  const payload = JSON.stringify(key);
  return Buffer.concat([macOf(secret, scope, payload), Buffer.from(payload)]).toString("base64url");
}

/** The sort key in a cursor. @throws HttpError 400 where we didn't issue the cursor for this list */
export function decodeCursor(secret: KeyObject, { scope, cursor }: { scope: string; cursor: string }): SortKey {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.toString("utf8", MAC_BYTES);
  const isOurs =
    bytes.length > MAC_BYTES &&
    // Node ignores characters that aren't base64url, but only the exact text that we issued is a cursor.
    bytes.toString("base64url") === cursor &&
    timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(secret, scope, payload));
  const key = isOurs ? parseKey(payload) : undefined;
  if (!key) throw invalid(INVALID_CURSOR);
  return key;
}

/** Undefined where it is no key. A part of the scope could be moved before the key without changing the HMAC. */
function parseKey(payload: string): SortKey | undefined {
  return payload.startsWith("[") ? (JSON.parse(payload) as SortKey) : undefined;
}

/**
 * Reads where the page of a list begins, and how to make its next cursor. @throws HttpError 400 for a cursor of another
 * list
 */
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
