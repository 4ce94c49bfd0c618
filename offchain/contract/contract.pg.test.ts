import { encodeAbiParameters, type Hex, padHex, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toBytes } from "../bytea.ts";
import { type Anvil, startAnvil } from "../../demo/anvil.ts";
import { inserter } from "../../test/api.ts";
import { assemble, callKey, type Reaction } from "../../test/bytecode.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { mint } from "../../test/tokens.ts";
import { putMulticall3 } from "../../test/multicall3.ts";
import { createCallReader, type ReadCalls } from "../chain/call.ts";
import { claimDueContracts } from "./contract-queue.ts";
import { requestContract } from "./contract-request.ts";
import { enqueueContracts } from "./contract-watermark.ts";
import { readDueContracts } from "./contract-worker.ts";
import { createRpc, type Rpc, RpcFault } from "../chain/rpc.ts";
import { enqueueUpdates } from "../token/token-update.ts";
import { enqueueTokens } from "../token/token-watermark.ts";

const CHAIN_ID = 31_337;
const TRUE = padHex("0x01");
const string = (text: string) => encodeAbiParameters([{ type: "string" }], [text]);
const bytes = (value: Hex) => encodeAbiParameters([{ type: "bytes" }], [value]);

/**
 * Contracts by their behaviour, and what must be known of them afterwards: name, symbol, ERC-165 type, whether
 * fungible.
 */
const CONTRACTS: Record<
  string,
  { reactions: Record<Hex, Reaction>; isFirstGeneration?: true; expected: [string, string, string | null, boolean] }
> = {
  "an ordinary ERC-721": {
    reactions: {
      [callKey.name]: string("Bored Cats"),
      [callKey.symbol]: string("CAT"),
      [callKey.supports("0x80ac58cd")]: TRUE,
    },
    expected: ["Bored Cats", "CAT", "ERC721", false],
  },
  "an ERC-1155 without a name": {
    reactions: { [callKey.supports("0xd9b67a26")]: TRUE },
    expected: ["", "", "ERC1155", false],
  },
  "one that claims both standards": {
    reactions: { [callKey.supports("0x80ac58cd")]: TRUE, [callKey.supports("0xd9b67a26")]: TRUE },
    expected: ["", "", null, false],
  },
  "one that says yes to everything": {
    reactions: { [callKey.supports("0x80ac58cd")]: TRUE, [callKey.supports("0xffffffff")]: TRUE },
    expected: ["", "", null, false],
  },
  "a bool of 2": {
    reactions: { [callKey.name]: string("Two"), [callKey.supports("0x80ac58cd")]: padHex("0x02") },
    expected: ["Two", "", null, false],
  },
  "a name in bytes32": {
    reactions: {
      [callKey.name]: stringToHex("Maker", { size: 32 }),
      [callKey.symbol]: stringToHex("MKR", { size: 32 }),
    },
    expected: ["Maker", "MKR", null, false],
  },
  "a name of 100 kB": {
    reactions: { [callKey.name]: string("x".repeat(100_000)), [callKey.symbol]: string("BIG") },
    expected: ["x".repeat(200), "BIG", null, false],
  },
  "a name with NUL, line breaks and invalid UTF-8": {
    reactions: { [callKey.name]: bytes("0x41000a420dff20c3"), [callKey.symbol]: string("😀".repeat(40)) },
    expected: ["A B \ufffd \ufffd", "😀".repeat(32), null, false],
  },
  "a name that burns all gas": {
    reactions: { [callKey.name]: "burn", [callKey.symbol]: string("AFTER") },
    expected: ["", "AFTER", null, false],
  },
  "a name that points outside its data": {
    reactions: { [callKey.name]: padHex("0xffffffffffffffffffff"), [callKey.symbol]: "revert" },
    expected: ["", "", null, false],
  },
  "an early ERC-20 token": {
    reactions: { [callKey.name]: string("Old Coin"), [callKey.decimals]: padHex("0x12") },
    isFirstGeneration: true,
    expected: ["Old Coin", "", null, true],
  },
  "an early NFT with decimals": {
    reactions: { [callKey.decimals]: padHex("0x00"), [callKey.ownerOf]: padHex("0x99") },
    isFirstGeneration: true,
    expected: ["", "", null, false],
  },
  "CryptoKitties, with the draft's interface id": {
    reactions: { [callKey.decimals]: padHex("0x00"), [callKey.supports("0x9a20483d")]: TRUE },
    isFirstGeneration: true,
    expected: ["", "", null, false],
  },
  "decimals beyond all reason": {
    reactions: { [callKey.decimals]: padHex("0xff") },
    isFirstGeneration: true,
    expected: ["", "", null, false],
  },
  "an ERC-721 with decimals, whose Transfer has its arguments indexed": {
    reactions: { [callKey.decimals]: padHex("0x12") },
    expected: ["", "", null, false],
  },
  "an ERC-20 token whose Transfer has its amount indexed": {
    reactions: { [callKey.decimals]: padHex("0x12"), [callKey.allowance]: padHex("0x00") },
    expected: ["", "", null, true],
  },
  "an ERC-404, money and tokens in one, whose tokens are all burned": {
    reactions: {
      [callKey.decimals]: padHex("0x12"),
      [callKey.allowance]: padHex("0x00"),
      [callKey.isApprovedForAll]: padHex("0x00"),
    },
    expected: ["", "", null, false],
  },
  "an NFT without ERC-165 that has decimals and allowances": {
    reactions: { [callKey.decimals]: padHex("0x00"), [callKey.allowance]: padHex("0x00") },
    expected: ["", "", null, false],
  },
  "an early NFT with decimals and operators": {
    reactions: { [callKey.decimals]: padHex("0x00"), [callKey.isApprovedForAll]: padHex("0x00") },
    isFirstGeneration: true,
    expected: ["", "", null, false],
  },
};
const names = Object.keys(CONTRACTS);
const addressOf = (name: string) => padHex(`0x${(names.indexOf(name) + 4096).toString(16)}`, { size: 20 });

let anvil: Anvil;
let rpc: Rpc;
const { sql } = await useDatabase(createReadableDatabase, { max: 4 });

beforeAll(async () => {
  anvil = await startAnvil({ port: 0, timestamp: 1_700_000_000n, accounts: 1 });
  rpc = createRpc({ urls: [anvil.rpcUrl] });
  for (const name of names)
    await rpc.send([{ method: "anvil_setCode", params: [addressOf(name), assemble(CONTRACTS[name]!.reactions)] }]);
});

afterAll(async () => {
  await rpc.close();
  await anvil.stop();
});

const indexed = (block: number, deployment = "a") =>
  ({
    network: "mainnet",
    chain_id: CHAIN_ID,
    indexed_block: block,
    head_block: block,
    finalized_block: block,
    deployment,
    is_published: false,
    genesis_hash: "",
  }) as const;

async function addContract(
  address: Hex,
  { block, isFirstGeneration = false }: { block: number; isFirstGeneration?: boolean },
) {
  await sql`
    insert into onchain_mainnet.contract (contract_address, contract_type, is_first_generation, block_number, log_index)
    values (${toBytes(address)}, 'ERC721', ${isFirstGeneration}, ${block}, 0)
  `;
}

async function clear() {
  await sql`
    truncate onchain_mainnet.contract, onchain_mainnet.token, onchain_mainnet.token_event, offchain.contract_metadata,
      offchain.contract_watermark, offchain.token_metadata, offchain.token_watermark
  `;
}

async function readAll(readCalls: ReadCalls) {
  await clear();
  for (const name of names)
    await addContract(addressOf(name), { block: 10, isFirstGeneration: CONTRACTS[name]!.isFirstGeneration ?? false });
  await enqueueContracts(sql, indexed(10));
  await readDueContracts(sql, { readCalls, network: "mainnet", chainId: CHAIN_ID });
  const rows = await sql`
    select '0x' || encode(contract_address, 'hex') as address, name, symbol, erc165_type, is_fungible
    from offchain.contract_metadata
  `;
  const found = new Map(rows.map((row) => [row.address, [row.name, row.symbol, row.erc165_type, row.is_fungible]]));
  return Object.fromEntries(names.map((name) => [name, found.get(addressOf(name))]));
}

const expectedFacts = Object.fromEntries(names.map((name) => [name, CONTRACTS[name]!.expected]));

test("facts come out right where there is no Multicall3", async () => {
  expect(await readAll(createCallReader(rpc))).toEqual(expectedFacts);
});

test("facts come out right through Multicall3", async () => {
  await putMulticall3(anvil.rpcUrl);
  expect(await readAll(createCallReader(rpc))).toEqual(expectedFacts);
});

test("facts come out right from a node that takes no batches and has no Multicall3", async () => {
  const sizes = new Set<number>();
  const alone: Rpc = {
    ...rpc,
    send: async (requests) => {
      sizes.add(requests.length);
      if (requests.length > 1) throw new RpcFault("no batches");
      return requests[0]!.method === "eth_getCode" ? [{ result: "0x" }] : rpc.send(requests);
    },
  };
  expect(await readAll(createCallReader(alone))).toEqual(expectedFacts);
  expect(Math.max(...sizes)).toBeGreaterThan(1);
});

test("a contract that logs a change of itself is asked for its name and symbol anew", async () => {
  await clear();
  const address = "0x0000000000000000000000000000000000007572";
  const become = (name: string, symbol: string) => {
    const code = assemble({ [callKey.name]: string(name), [callKey.symbol]: string(symbol) });
    return rpc.send([{ method: "anvil_setCode", params: [address, code] }]);
  };
  const read = async () => {
    await readDueContracts(sql, { readCalls: createCallReader(rpc), network: "mainnet", chainId: CHAIN_ID });
    return [...(await sql`select name, symbol from offchain.contract_metadata`)];
  };
  await become("Old", "OLD");
  await addContract(address, { block: 1 });
  await enqueueContracts(sql, indexed(1));
  await enqueueTokens(sql, indexed(1));
  expect(await read()).toEqual([{ name: "Old", symbol: "OLD" }]);
  await become("New", "NEW");
  expect(await read()).toEqual([{ name: "Old", symbol: "OLD" }]);
  await sql`
    insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address)
    values (2, 0, ${toBytes(address)})
  `;
  await enqueueUpdates(sql, indexed(2));
  expect(await read()).toEqual([{ name: "New", symbol: "NEW" }]);
});

test("the owner that an early NFT is asked for is that of a token which somebody holds", async () => {
  await clear();
  const early = "0x0000000000000000000000000000000000404404";
  const reactions = { [callKey.decimals]: padHex("0x00"), [callKey.ownerOfLarge("0x00000005")]: padHex("0x99") };
  await rpc.send([{ method: "anvil_setCode", params: [early, assemble(reactions)] }]);
  await addContract(early, { block: 1, isFirstGeneration: true });
  // The first and the last tokens are burned.
  const zero = padHex("0x", { size: 20 });
  const { token } = inserter(sql);
  for (const [id, owner] of [
    [0n, zero],
    [1n, zero],
    [5n << 224n, padHex("0x99", { size: 20 })],
    [6n << 224n, zero],
  ] as const)
    await token(early, id, { owner });
  await enqueueContracts(sql, indexed(1));
  await readDueContracts(sql, { readCalls: createCallReader(rpc), network: "mainnet", chainId: CHAIN_ID });
  expect([...(await sql`select is_fungible from offchain.contract_metadata`)]).toEqual([{ is_fungible: false }]);
});

describe("the queue of contracts", () => {
  const nothing: ReadCalls = async (calls) => calls.map(() => ({ kind: "fault", message: "down" }));
  const due = () =>
    sql<{ attempts: number; seconds: number; error_code: string | null }[]>`
      select attempts, extract(epoch from due_at - now())::float8 as seconds, error_code
      from offchain.contract_metadata
      order by contract_address
    `;

  test("a node that fails leaves the contract due, later each time, and what is known stays", async () => {
    await clear();
    await addContract(addressOf(names[0]!), { block: 1 });
    await enqueueContracts(sql, indexed(1));
    const known = { name: "Known", symbol: "KN", erc165_type: "ERC1155", is_fungible: true };
    await sql`update offchain.contract_metadata set ${sql(known)}`;
    for (let attempt = 1; attempt <= 30; attempt++) {
      await readDueContracts(sql, { readCalls: nothing, network: "mainnet", chainId: CHAIN_ID });
      const [row] = await due();
      expect(row).toMatchObject({ attempts: attempt, error_code: "rpc" });
      expect(row!.seconds).toBeGreaterThan(Math.min(15 * 2 ** (attempt - 1), 604_800) / 2 - 2);
      expect(row!.seconds).toBeLessThanOrEqual(604_800);
      await sql`update offchain.contract_metadata set due_at = now()`;
    }
    expect(await sql`select name, symbol, erc165_type, is_fungible from offchain.contract_metadata`).toEqual([known]);
    await readDueContracts(sql, { readCalls: createCallReader(rpc), network: "mainnet", chainId: CHAIN_ID });
    const [row] = await sql`select name, due_at, attempts, error_code from offchain.contract_metadata`;
    expect(row).toEqual({ name: "Bored Cats", due_at: null, attempts: 0, error_code: null });
  });

  test("a contract that its node has put off is due by then, and that was no attempt", async () => {
    await clear();
    await addContract(addressOf(names[0]!), { block: 1 });
    await enqueueContracts(sql, indexed(1));
    const read = async (readCalls: ReadCalls) => {
      await sql`update offchain.contract_metadata set due_at = now()`;
      await readDueContracts(sql, { readCalls, network: "mainnet", chainId: CHAIN_ID });
      return (await due())[0]!;
    };
    const putOff: ReadCalls = async (calls) =>
      calls.map((_, i) => ({ kind: "fault", message: "slow", againSeconds: 600 + i }));
    expect(await read(putOff)).toMatchObject({ attempts: 0, error_code: null });
    await read(nothing);
    const state = await read(putOff);
    expect(state).toMatchObject({ attempts: 1, error_code: "rpc" });
    expect(state.seconds).toBeGreaterThan(590);
    // A slow contract answers some of the calls each time.
    const slow: ReadCalls = async (calls) => {
      const answers = await putOff(calls);
      return [{ kind: "none" }, ...answers.slice(1)];
    };
    expect(await read(slow)).toMatchObject({ attempts: 2, error_code: "rpc" });
    expect(await read(createCallReader(rpc))).toEqual({ attempts: 0, seconds: null, error_code: null });
  });

  test("a contract that says nothing is asked again four times, in case the node lags", async () => {
    await clear();
    await addContract("0x00000000000000000000000000000000000000ee", { block: 1 });
    await enqueueContracts(sql, indexed(1));
    for (let attempt = 1; attempt <= 4; attempt++) {
      expect((await due())[0]!.seconds).toBeLessThanOrEqual(0);
      await readDueContracts(sql, { readCalls: createCallReader(rpc), network: "mainnet", chainId: CHAIN_ID });
      await sql`update offchain.contract_metadata set due_at = now() where due_at is not null`;
    }
    expect(await due()).toEqual([{ attempts: 0, seconds: null, error_code: "silent" }]);
  });

  test("a contract that the index lacks while it is read is read again: whether it is money depends on its logs", async () => {
    await clear();
    const address = addressOf("an early ERC-20 token");
    const read = async () => {
      await sql`update offchain.contract_metadata set due_at = now() where due_at is not null`;
      await readDueContracts(sql, { readCalls: createCallReader(rpc), network: "mainnet", chainId: CHAIN_ID });
      const [row] = await sql`select is_fungible, due_at is null as is_done from offchain.contract_metadata`;
      return row;
    };
    await addContract(address, { block: 1, isFirstGeneration: true });
    await enqueueContracts(sql, indexed(1));
    // As for some seconds after the indexer was started again.
    await sql`delete from onchain_mainnet.contract`;
    expect(await read()).toEqual({ is_fungible: false, is_done: false });
    await addContract(address, { block: 1, isFirstGeneration: true });
    expect(await read()).toEqual({ is_fungible: true, is_done: true });
    // What is known stays where it is left out of the index, and it isn't asked for ever.
    await sql`delete from onchain_mainnet.contract`;
    await requestContract(sql, { chainId: CHAIN_ID, contractAddress: address });
    for (let attempt = 1; attempt <= 3; attempt++) expect(await read()).toEqual({ is_fungible: true, is_done: false });
    expect(await read()).toEqual({ is_fungible: true, is_done: true });
  });

  test("a contract that is asked for anew while it is read is read once more", async () => {
    await clear();
    const address = addressOf(names[0]!);
    await addContract(address, { block: 1 });
    await enqueueContracts(sql, indexed(1));
    const readCalls = createCallReader(rpc);
    let isAskedFor = false;
    const asking: ReadCalls = async (calls) => {
      if (!isAskedFor) await requestContract(sql, { chainId: CHAIN_ID, contractAddress: address });
      isAskedFor = true;
      return readCalls(calls);
    };
    expect(await readDueContracts(sql, { readCalls: asking, network: "mainnet", chainId: CHAIN_ID })).toBe(2);
    expect([...(await sql`select name, due_at from offchain.contract_metadata`)]).toEqual([
      { name: "Bored Cats", due_at: null },
    ]);
  });

  test("the contract that has waited longest is first", async () => {
    await clear();
    for (let i = 1; i <= 3; i++) await addContract(padHex(`0x${i.toString(16)}`, { size: 20 }), { block: i });
    await enqueueContracts(sql, indexed(3));
    await sql`
      update offchain.contract_metadata
      set due_at = now() - interval '1 hour'
      where contract_address = ${toBytes(padHex("0x02", { size: 20 }))}
    `;
    const claimed = await claimDueContracts(sql, { network: "mainnet", chainId: CHAIN_ID, limit: 1 });
    expect(claimed).toMatchObject([{ contract_address: padHex("0x02", { size: 20 }), attempts: 1 }]);
  });

  test("many workers claim each contract once", async () => {
    await clear();
    for (let i = 1; i <= 300; i++) await addContract(padHex(`0x${i.toString(16)}`, { size: 20 }), { block: i });
    await enqueueContracts(sql, indexed(300));
    let calls = 0;
    const counting: ReadCalls = async (asked) => {
      calls += asked.length;
      return asked.map(() => ({ kind: "none" }));
    };
    const counts = await Promise.all(
      Array.from({ length: 4 }, () =>
        readDueContracts(sql, { readCalls: counting, network: "mainnet", chainId: CHAIN_ID }),
      ),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(calls).toBe(300 * 10);
  });

  test("a contract that came by another event after a reorg is read anew, and no other one", async () => {
    await clear();
    const here = padHex("0x01", { size: 20 });
    await mint(sql, { contract: here, tokens: [1], block: 9 });
    await mint(sql, { contract: padHex("0x02", { size: 20 }), tokens: [1], block: 9 });
    // Of two workers one may come to the tokens before the other one has stored the contracts.
    await enqueueTokens(sql, indexed(9));
    await enqueueContracts(sql, indexed(9));
    const settle = () => sql`update offchain.contract_metadata set due_at = null, uri_due_at = null`;
    const listDue = async () => {
      const rows = await sql`
        select '0x' || encode(contract_address, 'hex') as address
        from offchain.contract_metadata
        where due_at <= now() and uri_due_at <= now()
      `;
      return rows.map(({ address }) => address as string);
    };
    await settle();
    await sql`update onchain_mainnet.contract set block_number = 10 where contract_address = ${toBytes(here)}`;
    await sql`
      update onchain_mainnet.token_event
      set block_number = 10, log_index = 0, transaction_hash = '\\x03'
      where contract_address = ${toBytes(here)}
    `;
    await enqueueContracts(sql, indexed(10));
    expect(await listDue()).toEqual([here]);
    await settle();
    await enqueueContracts(sql, indexed(11));
    expect(await listDue()).toEqual([]);
    // Within a minute also where no block follows.
    await sql`update onchain_mainnet.token_event set transaction_hash = '\\x04' where contract_address = ${toBytes(here)}`;
    await enqueueContracts(sql, indexed(11));
    expect(await listDue()).toEqual([]);
    await sql`update offchain.token_watermark set rechecked_at = now() - interval '61 seconds'`;
    await enqueueTokens(sql, indexed(11));
    await enqueueContracts(sql, indexed(11));
    expect(await listDue()).toEqual([here]);
  });

  test("a reorg's contract behind the watermark is found, as on a chain that is shorter now, and a new deployment is looked at whole", async () => {
    await clear();
    const countNew = async (network: ReturnType<typeof indexed>) => {
      const count = async () => (await sql`select from offchain.contract_metadata`).length;
      const before = await count();
      await enqueueContracts(sql, network);
      return (await count()) - before;
    };
    await addContract(padHex("0x01", { size: 20 }), { block: 1000 });
    expect(await countNew(indexed(1000))).toBe(1);
    expect(await countNew(indexed(1000))).toBe(0);
    await addContract(padHex("0x02", { size: 20 }), { block: 995 });
    expect(await countNew(indexed(1001))).toBe(1);
    await addContract(padHex("0x03", { size: 20 }), { block: 5 });
    expect(await countNew(indexed(1002))).toBe(0);
    expect(await countNew(indexed(1003, "b"))).toBe(1);
    await addContract(padHex("0x04", { size: 20 }), { block: 500 });
    expect(await countNew(indexed(500, "b"))).toBe(1);
  });
});
