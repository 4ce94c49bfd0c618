import type { ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { type Origin, serveOrigin } from "./origin.ts";

/** A node that gets each request's body, parsed, and answers as told. A request that is given up is none. */
export const serveNode = (respond: (body: never, response: ServerResponse) => unknown): Promise<Origin> =>
  serveOrigin(
    (request, response) =>
      void json(request).then(
        (body) => respond(body as never, response),
        () => {},
      ),
  );

/** A node that answers one call after the other so, in a batch or alone. */
export const serveCalls = (answer: (call: never) => unknown): Promise<Origin> =>
  serveNode((body: unknown, response) => {
    const answerTo = (call: unknown) => answer(call as never);
    response.end(JSON.stringify(Array.isArray(body) ? body.map(answerTo) : answerTo(body)));
  });
