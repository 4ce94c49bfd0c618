import { expect, test } from "vitest";
import { serveCalls, serveNode } from "../../test/node-server.ts";
import { createRpcClient } from "./rpc-client.ts";
import { shortMessage } from "./viem-error.ts";

test("a node whose answer is empty, with status 200 too, is told by that, and not for lacking a block", async () => {
  await using silenced = await serveNode((_, response) => response.writeHead(200).end());
  const client = createRpcClient([silenced.url]);
  expect(await client.getChainId().catch(shortMessage)).toContain(
    `${silenced.host} answered eth_chainId without a result.`,
  );
  expect(await client.getBlock({ blockNumber: 1n }).catch(shortMessage)).toContain(
    `${silenced.host} answered eth_getBlockByNumber without a result.`,
  );
  await using lacking = await serveCalls(({ id }: { id: number }) => ({ jsonrpc: "2.0", id, result: null }));
  expect(await createRpcClient([lacking.url]).getBlock({ blockNumber: 1n }).catch(shortMessage)).toBe(
    'Block at number "1" could not be found.',
  );
});
