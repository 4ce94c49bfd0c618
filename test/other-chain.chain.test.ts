import { expect, test } from "vitest";
import { findFreePort } from "../indexer/free-port.ts";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { startCommand } from "./command.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

test.each([
  { what: "what is indexed of one chain", isComplete: true },
  { what: "what was shown of one chain before it was complete", isComplete: false },
])("$what isn't answered as another's, and is there again with that chain", async ({ isComplete }) => {
  const [chain, other, database] = await Promise.all([
    startChain(),
    startChain({ chainId: 31_338 }),
    createTestDatabase(),
  ]);
  opened(chain);
  opened(other);
  opened(database);
  const { Deed } = compile("Deed");
  const deed = await chain.deploy(Deed);
  await chain.mine({ to: deed, name: "mint", args: [chain.accounts[0], 7] });
  await chain.mineEmpty(40);
  await other.deploy(Deed);
  await other.mineEmpty(40);
  // Its history is never loaded.
  const node = opened(await startRpcProxy(other.rpcUrl));
  node.set({ hasNoLogs: true });

  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  opened(startCommand("api", { env: { DATABASE_URL: database.url, PORT: String(port), LOG_LEVEL: "silent" } }));
  const ask = async () => {
    const [ready, token] = await Promise.all(
      ["/ready", `/orderbook/token/${deed.address}/7`].map((path) => fetch(url + path)),
    );
    const { result } = (await token!.json()) as { result?: { token_chain_id: string }[] & { token_chain_id: string } };
    return [ready!.status, token!.status, [result].flat()[0]?.token_chain_id];
  };
  const startOn = (rpcUrl: string) => opened(startIndexer({ databaseUrl: database.url, rpcUrl }));

  const first = startOn(chain.rpcUrl);
  await first.waitUntilLive(await chain.head());
  await expect.poll(ask, { interval: 200 }).toEqual([200, 200, "0x7a69"]);
  await first.stop();
  // As where it is stopped while its indexes are made, which takes long for many logs.
  if (!isComplete) await withConnection(database.url, (sql) => sql`update offchain.deployment set published_at = null`);

  const second = startOn(node.url);
  await second.waitUntil(({ chain_id, state }) => chain_id === 31_338 && state === "backfill");
  await expect.poll(ask, { interval: 200, timeout: 20_000 }).toEqual([503, 503, undefined]);
  await second.stop();

  const third = startOn(chain.rpcUrl);
  await third.waitUntilLive(await chain.head());
  await expect.poll(ask, { interval: 200 }).toEqual([200, 200, "0x7a69"]);
});
