import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createReadableDatabase, useDatabase } from "../test/database.ts";
import { makeChain, type MadeBlock, type Provider, startProvider } from "../test/log-provider.ts";
import { type Deployment, ensureDeployment, noteFinalized } from "./deployment.ts";
import { watchFinality } from "./finality.ts";

const EVERY_MS = 20;
const HISTORY_BLOCK = 20;
const POSITION = { indexedBlock: 49, indexedTimestamp: 0, isReady: true };

const made = makeBlocks("chain");
const CHAIN = { chainId: 1, genesisHash: made[0]!.hash };
/** The same up to block 25. */
const fork = [...made.slice(0, 26), ...makeBlocks("fork").slice(26)];
const other = makeBlocks("other");

function makeBlocks(name: string): MadeBlock[] {
  return makeChain(
    Array.from({ length: 50 }, () => []),
    { name },
  );
}

const { sql } = await useDatabase(createReadableDatabase, { max: 2 });
let deployment: Deployment;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  await sql`create schema ponder_sync`;
  await sql`create table ponder_sync.blocks (chain_id bigint, number bigint, hash text)`;
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** A deployment whose history is loaded, and that Ponder hasn't begun to follow. */
beforeEach(async () => {
  await sql`delete from offchain.deployment`;
  deployment = await ensureDeployment(sql, {
    network: "mainnet",
    chain: CHAIN,
    fingerprint: "aa",
    isNewGeneration: false,
  });
  await sql`
    update offchain.deployment
    set
      history_block = ${HISTORY_BLOCK},
      history_hash = ${made[HISTORY_BLOCK]!.hash}
  `;
});

/** Ponder takes a block for final. */
async function finalize(block: number): Promise<void> {
  const checkpoint = `${"0".repeat(26)}${String(block).padStart(16, "0")}${"9".repeat(33)}`;
  const { schema_name: schema } = deployment;
  await sql`create schema if not exists ${sql(schema)}`;
  await sql`drop table if exists ${sql(`${schema}._ponder_checkpoint`)}, ${sql(`${schema}._ponder_meta`)}`;
  await sql`
    create table ${sql(`${schema}._ponder_checkpoint`)} as
    select ${checkpoint}::text as latest_checkpoint, ${checkpoint}::text as finalized_checkpoint
  `;
  await sql`create table ${sql(`${schema}._ponder_meta`)} as select '{"is_ready": 1}'::jsonb as value`;
}

async function startNode(chain = made): Promise<Provider> {
  const node = await startProvider(chain);
  closing.push(node.stop);
  return node;
}

const watch = (...nodes: Provider[]) =>
  watchFinality(sql, { rpcUrls: nodes.map(({ url }) => url), chain: CHAIN, everyMs: EVERY_MS });

const readNoted = async () => {
  const [row] = await sql<{ number: number; hash: string }[]>`
    select
      finalized_block::float8 as number,
      finalized_hash as hash
    from offchain.deployment
  `;
  return row!;
};

/** Five looks, none of which lets the index be dropped. */
async function lookInVain({ isGone }: ReturnType<typeof watch>, node: Provider): Promise<void> {
  for (node.calls.eth_chainId = 0; node.calls.eth_chainId < 5; await sleep(5)) expect(isGone(undefined)).toBe(false);
}

/** Whether Ponder would be started, or waits after five looks. */
async function isStarted({ untilKept }: ReturnType<typeof watch>, node: Provider): Promise<boolean> {
  const stopping = new AbortController();
  const start = { isDue: false };
  const settled = untilKept(stopping.signal).then(() => (start.isDue = !stopping.signal.aborted));
  for (node.calls.eth_chainId = 0; !start.isDue && node.calls.eth_chainId < 5; await sleep(5));
  stopping.abort();
  await settled;
  return start.isDue;
}

test("what nodes of another chain say of a final block is no answer, and they are named", async () => {
  const node = await startNode();
  const finality = watch(node);
  const lookFor = async (problem: string | undefined) => {
    await expect.poll(() => (finality.isGone(undefined), finality.problem())).toBe(problem);
    await lookInVain(finality, node);
    expect(await isStarted(finality, node)).toBe(problem === undefined);
  };
  await lookFor(undefined);
  node.set({ chainId: 2 });
  node.setChain(other);
  await lookFor(`${new URL(node.url).host} answers for chain 2. Expected 1`);

  // As it was, and then of this chain with other blocks.
  node.setChain(made);
  node.set({});
  await lookFor(undefined);
  node.setChain(other);
  await expect.poll(() => finality.isGone(undefined)).toBe(true);
});

test("a chain that began anew is seen to, though it is too short for a block that was final", async () => {
  const node = await startNode();
  const finality = watch(node);
  await lookInVain(finality, node);
  node.setChain(other.slice(0, HISTORY_BLOCK));
  await expect.poll(() => finality.isGone(undefined)).toBe(true);

  // A node that has no genesis block tells nothing of it.
  node.setChain([]);
  await expect.poll(() => finality.isGone(undefined)).toBe(false);
});

test("what Ponder takes for final is noted, and seen to be gone though nothing is kept of it", async () => {
  const node = await startNode();
  const finality = watch(node);
  for (const block of [22, 30]) {
    await finalize(block);
    await expect
      .poll(async () => (finality.isGone({ ...POSITION, finalizedBlock: block }), await readNoted()))
      .toEqual({ number: block, hash: made[block]!.hash });
  }
  expect(await isStarted(finality, node)).toBe(true);
  node.setChain(fork);
  expect(await isStarted(finality, node)).toBe(false);
  await expect.poll(() => finality.isGone(undefined)).toBe(true);
  // Nor is anything noted of what took its place.
  await finalize(40);
  expect(await isStarted(watch(node), node)).toBe(false);
  expect((await readNoted()).number).toBe(30);
});

test("a block that Ponder has kept is to be there where none is noted yet", async () => {
  await finalize(30);
  await sql`insert into ponder_sync.blocks values (1, 28, ${made[28]!.hash})`;
  const node = await startNode(fork);
  expect(await isStarted(watch(node), node)).toBe(false);
  await sql`delete from ponder_sync.blocks`;
});

test("nodes that lack a final block, or one that still has it, speak for it; what they disagree about isn't noted", async () => {
  await finalize(30);
  await noteFinalized(sql, deployment, { number: 30, hash: made[30]!.hash });
  const short = await startNode(made.slice(0, 25));
  expect(await isStarted(watch(short), short)).toBe(true);
  await lookInVain(watch(short), short);

  const [stale, ahead] = [await startNode(), await startNode(fork)];
  const finality = watch(stale, ahead);
  expect(await isStarted(finality, stale)).toBe(true);
  await finalize(40);
  await lookInVain(finality, stale);
  expect((await readNoted()).number).toBe(30);
  stale.setChain(fork);
  await expect.poll(() => finality.isGone(undefined)).toBe(true);
});

test("a node that doesn't answer is waited for, and one that doesn't tell of a block for a while", async () => {
  const node = await startNode();
  let refused = 0;
  // Of each three calls those for a block.
  node.set({ refuses: () => (refused++ % 3 > 0 ? { status: 500 } : undefined) });
  await watch(node).untilKept(AbortSignal.timeout(60_000));
  expect(refused).toBe(15);
  node.set({ isDown: true });
  const stopping = new AbortController();
  let isSettled = false;
  const settled = watch(node)
    .untilKept(stopping.signal)
    .then(() => (isSettled = true));
  await sleep(5 * EVERY_MS);
  expect(isSettled).toBe(false);
  node.set({});
  await settled;
});

test("deployments of a chain that had this id before say nothing of this one", async () => {
  await sql`update offchain.deployment set genesis_hash = '0x02'`;
  const node = await startNode([made[0]!, ...other.slice(1)]);
  expect(await isStarted(watch(node), node)).toBe(true);
});
