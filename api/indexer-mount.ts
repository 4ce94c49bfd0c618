import type { KeyObject } from "node:crypto";
import type { Network } from "../config.ts";
import { decodeCursor, encodeCursor, type SortKey } from "./cursor.ts";
import { HttpError, throughTakeover } from "./errors.ts";
import { type Monitor, within } from "./monitor.ts";
import type { LastItem } from "./page.ts";
import { mountRoute } from "./route.ts";

/** A request waits no longer for the database, in milliseconds: a little more than a statement may take there. */
const ANSWER_WITHIN_MS = 6000;

/** `mountRoute` for endpoints of one network, which need a key and wait for the database so long and no longer. */
export function createMount({ network, monitor }: { network: Network; monitor: Monitor }): typeof mountRoute {
  return (app, route, { handle }) =>
    mountRoute(app, route, {
      guard: (c) => {
        // An unknown network is no matter of keys. One that can't be read now is: strangers needn't know.
        const error = catchError(() => monitor.require(network));
        if (error?.status === 404) throw error;
        if (!c.get("exchange").caller) {
          throw new HttpError(
            401,
            c.req.header("x-api-key") === undefined
              ? "The API key is missing. Expected one in the header x-api-key."
              : "The API key is unknown or revoked. Expected a registered one in the header x-api-key.",
          );
        }
      },
      handle: (input, c) =>
        within(
          ANSWER_WITHIN_MS,
          throughTakeover(() => handle(input, c)),
        ),
    });
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

/** An item as it is on the wire: its place in the list is read from it, so that no row needs columns for that. */
export const parseItem = ({ item }: LastItem): unknown => JSON.parse(item.toString());

function catchError(task: () => unknown): HttpError | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
