import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { serveOrigin } from "../../test/origin.ts";
import { PONDER_MAIN } from "./bundle.ts";

/** Ponder's own client looks at the head of a node until a look has failed. */
const LOOK = `
  import { patchModules } from ${JSON.stringify(join(import.meta.dirname, "../../module-patch.ts"))};
  import { PONDER_PATCHES } from ${JSON.stringify(join(import.meta.dirname, "ponder-patches.ts"))};
  patchModules(PONDER_PATCHES);
  const { createRpc } = await import(${JSON.stringify(join(PONDER_MAIN, "../../rpc/index.js"))});
  const nothing = () => {};
  const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  const metrics = { ponder_rpc_request_duration: { observe: nothing }, ponder_rpc_request_error_total: { inc: nothing } };
  const chain = { id: 1, name: "mainnet", rpc: process.argv[1], pollingInterval: 2000 };
  const rpc = createRpc({ common: { logger, metrics, shutdown: { add: nothing } }, chain });
  rpc.subscribe({ onBlock: nothing, onError: () => process.exit() });
`;

test("a node that refuses to tell the head isn't asked for it again and again beside the next look", async () => {
  await using node = await serveOrigin((_, response) => response.writeHead(429).end("Too Many Requests"));
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", LOOK, node.url]);
  // A look asks four times within a second; the next ones may have begun on a busy machine.
  expect(node.requests.length).toBeLessThan(10);
});
