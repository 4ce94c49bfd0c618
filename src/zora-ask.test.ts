import { type Hex, zeroAddress, zeroHash } from "viem";
import { expect, test } from "vitest";
import { ZORA_ADDRESSES } from "../abis/zora.ts";
import { readConfig } from "../config.ts";
import { listSources } from "../sources.ts";
import { applyLogs, createTables } from "../test/memory-store.ts";
import { logOf, words } from "../test/raw-log.ts";

const [ANNE, CRANES, OTHERS] = ["aa", "71", "72"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];

test("an ask leaves a row where its token is indexed, for the worker asks about each", async () => {
  const asks = ["AskCreated", "AskPriceUpdated", "AskCanceled"].map((name, logIndex) => ({
    ...logOf(
      `${name}(address,uint256,(address,address,address,uint16,uint256))`,
      [CRANES, 7n],
      words(ANNE, ANNE, zeroAddress, 0n, 500n),
    ),
    address: ZORA_ADDRESSES[0] as Hex,
    blockNumber: 1,
    blockHash: zeroHash,
    timestamp: 1_700_000_000,
    transactionHash: zeroHash,
    logIndex,
    sender: ANNE,
    note: null,
  }));
  const countRows = async (contracts: string) => {
    const config = readConfig({ MAINNET_RPC_URL: "http://localhost:1", MAINNET_CONTRACTS: contracts });
    const tables = createTables();
    await applyLogs(tables, asks, { sources: listSources(config, { network: "mainnet", chainId: 1 }) });
    return tables.get("tradeOrder")!.size;
  };
  expect(await countRows("*")).toBe(2);
  expect(await countRows(CRANES)).toBe(2);
  expect(await countRows(OTHERS)).toBe(0);
});
