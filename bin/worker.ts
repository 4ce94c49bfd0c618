/** `npm run worker`: fetches metadata and media of what the indexer finds, and asks the chain what no log says. */
import { setTimeout as sleep } from "node:timers/promises";
import { isLogged, type Network, NETWORKS } from "../config.ts";
import { readConfigOrExit } from "../environment.ts";
import { createCallReader, type ReadCalls } from "../offchain/chain/call.ts";
import { createSlowContracts } from "../offchain/chain/slow-contract.ts";
import { readDueContractUris } from "../offchain/contract/contract-uri.ts";
import { enqueueContracts } from "../offchain/contract/contract-watermark.ts";
import { readDueContracts } from "../offchain/contract/contract-worker.ts";
import { createFetcher } from "../offchain/fetch/fetcher.ts";
import { readContractSignatures, type SignaturePlace } from "../offchain/order/contract-signature.ts";
import { type ListingPlace, readListingApprovals } from "../offchain/order/listing-approval.ts";
import { createMediaFetcher } from "../offchain/media/media-fetch.ts";
import { createMediaStore } from "../offchain/media/media-store.ts";
import { runMediaWorker } from "../offchain/media/media-worker.ts";
import { migrate } from "../offchain/migrate.ts";
import { isFollowed, listIndexedNetworks } from "../offchain/network.ts";
import { createNewBlockCheck } from "../offchain/new-block.ts";
import { readOfferFunds } from "../offchain/order/offer-funds.ts";
import { createRpc } from "../offchain/chain/rpc.ts";
import { createDocumentReader } from "../offchain/document/source-reader.ts";
import { dropTokens } from "../offchain/token/dropped-token.ts";
import { type ContractPlace, walkRanges } from "../offchain/token/token-range.ts";
import { enqueueUpdates } from "../offchain/token/token-update.ts";
import { enqueueTokens } from "../offchain/token/token-watermark.ts";
import { settleTokens } from "../offchain/token/unsettled-token.ts";
import { runTokenWorker } from "../offchain/token/token-worker.ts";
import { startWorkerReport } from "../offchain/worker-report.ts";
import { createPool } from "../postgres/pool.ts";
import { describeOtherChain, exitOnOtherChain, findOtherChain } from "./chain-check.ts";
import { databaseUrlOrExit, requireDatabase } from "./database-check.ts";
import { endInTime, exit, exitWith, outliveReader, stopSignal, takeNoArguments } from "./process.ts";
import { retry } from "./retry.ts";
import { createLoop } from "./worker-loop.ts";
import { createWorkerSummary } from "./worker-summary.ts";

/** Looking for bidders reads all offers that stand. */
const BIDDERS_POLL_MS = 5000;
const SUMMARY_MS = 30_000;
const CLEANING_MS = 3_600_000;

takeNoArguments();
outliveReader();
const config = readConfigOrExit();
const databaseUrl = databaseUrlOrExit(config);
if (!config.networks.mainnet) exit("MAINNET_RPC_URL is not set. Expected http or https URLs, comma-separated.");
// Not only once the indexer has reported the chain that is set: it can't, where that is a slip.
void exitOnOtherChain(config);
const isSilent = config.logLevel === "silent";

// A commit that a crash of the database undoes is work that is due again: not worth waiting for the disk.
// Statements are of a few rows, whatever the planner expects: compiling them takes longer.
const connection = { application_name: "worker", synchronous_commit: "off", jit: "off" };
const sql = createPool(databaseUrl, { max: 16, connection });
const signal = stopSignal();
endInTime(signal);
const fetcher = createFetcher({
  concurrency: config.metadataConcurrency,
  allowHosts: config.fetchAllowHosts,
  ipfsGateways: config.ipfsGateways,
  arweaveGateways: config.arweaveGateways,
});
/** By chain id, filled as the indexer tells of its networks: documents may live in contracts of either. */
const readCalls = new Map<number, ReadCalls>();
const readDocument = createDocumentReader({ fetcher, readCalls });
const store = createMediaStore(config);
const fetchMedia = createMediaFetcher({ fetcher, store, readCalls });
const report = startWorkerReport(sql);
const summary = createWorkerSummary();
const loop = createLoop({ signal, logLevel: config.logLevel });

try {
  const prepare = () => requireDatabase(config).then(() => migrate(sql));
  await keepTrying("the database", prepare, { quietAttempts: 0 });
  // Else a slip in a variable would be told with the first picture. Nothing waits for it, the end neither.
  void keepTrying("the media store", store.check, { quietAttempts: 0 });
  await Promise.all([...NETWORKS.filter((network) => config.networks[network]).map(runNetwork), summarize(), clean()]);
  await report.stop();
  await Promise.race([sql.end({ timeout: 2 }), sleep(3000)]);
} catch (error) {
  exitWith(error);
}
process.exit(0);

/** One network until the end. A fault is said once and waited out, never the end of the worker. */
async function runNetwork(network: Network): Promise<void> {
  const chainId = await findChainId(network);
  if (chainId === undefined) return;
  const calls = connectNodes(network, chainId);
  readCalls.set(chainId, calls);
  const isListingsBlockNew = createNewBlockCheck(sql, { network });
  const isSignaturesBlockNew = createNewBlockCheck(sql, { network });
  let lastListing: ListingPlace | undefined;
  let lastSignature: SignaturePlace | undefined;
  let lastRange: ContractPlace;
  const options = { network, chainId, signal, concurrency: config.metadataConcurrency };
  await Promise.all([
    loop(network, "new blocks", () => lookAtBlocks(network)),
    loop(network, "ranges", async () => {
      const ranges = await walkRanges(sql, { chainId, after: lastRange });
      lastRange = ranges.last;
      return !ranges.isDone;
    }),
    loop(network, "contracts", async () => (await readDueContracts(sql, { readCalls: calls, network, chainId })) > 0),
    loop(network, "contract documents", async () => {
      await readDueContractUris(sql, { chainId, readCalls: calls, readDocument, signal });
      return false;
    }),
    loop(
      network,
      "bidders",
      async () => (await readOfferFunds(sql, { readCalls: calls, network, chainId })) > 0,
      BIDDERS_POLL_MS,
    ),
    loop(network, "listings", async () => {
      if (lastListing === undefined && !(await isListingsBlockNew())) return false;
      lastListing = await readListingApprovals(sql, { readCalls: calls, network, chainId, after: lastListing });
      // Some each second, however many there are: a walk over all of them never ends.
      return false;
    }),
    loop(network, "signatures", async () => {
      if (lastSignature === undefined && !(await isSignaturesBlockNew())) return false;
      lastSignature = await readContractSignatures(sql, { readCalls: calls, chainId, after: lastSignature });
      return false;
    }),
    loop(network, "tokens", async () => {
      await runTokenWorker(sql, {
        ...options,
        readCalls: calls,
        readDocument,
        isBusy: fetcher.isFull,
        countHeldUp: fetcher.countHeldUp,
        onStored: (outcomes) => {
          for (const { result } of outcomes) {
            report.count();
            summary.count(result.kind === "failure" ? result.code : undefined);
          }
        },
      });
      return false;
    }),
    loop(network, "media", async () => {
      await runMediaWorker(sql, { ...options, fetchMedia, hasMedia: store.has });
      return false;
    }),
  ]);
}

/** The nodes of a network. One of another chain ends the worker while it starts, and is asked for nothing later on. */
function connectNodes(network: Network, chainId: number): ReadCalls {
  const { rpcUrls: urls, chainId: configured } = config.networks[network]!;
  const prefix = network.toUpperCase();
  let isStarting = true;
  const toldOthers = new Set<string>();
  const onOther = (host: string, other: number) => {
    const line =
      configured === undefined
        ? `The indexer follows chain ${chainId}, but ${prefix}_RPC_URL ${host} answers for chain ${other}. Expected the same`
        : describeOtherChain(network, { chainId, host, other });
    if (isStarting) exit(`${line}.`);
    // One that didn't answer until now: what is under way goes on with the others.
    if (!toldOthers.has(host) && !isSilent) console.error(`worker: ${network}: ${line}; it is not asked.`);
    toldOthers.add(host);
  };
  const rpc = createRpc({ urls, chain: { id: () => chainId, onOther } });
  void rpc.checkChains().finally(() => (isStarting = false));
  return createCallReader(rpc, { slow: createSlowContracts() });
}

/** The network's chain id, which the indexer reports. Undefined where we are told to end before. */
async function findChainId(network: Network): Promise<number | undefined> {
  let chainId: number | undefined;
  const find = async () => {
    chainId = (await listIndexedNetworks(sql)).find((row) => row.network === network)?.chain_id;
    if (chainId === undefined) throw new Error("it has not reported yet");
    const { chainId: configured, rpcUrls: urls } = config.networks[network]!;
    // It may be its last report, from before it was given another chain as we are.
    const isOver = configured === undefined && !(await isFollowed(sql, { network }));
    const wanted = configured ?? (isOver ? await findOtherChain(urls, { chainId }) : chainId);
    if (chainId !== wanted) throw new Error(`it follows chain ${chainId}, not ${wanted}`);
  };
  // A first start of the indexer takes a while.
  await keepTrying(`${network}: the indexer`, find, { quietAttempts: 10 });
  return chainId;
}

/** True where there is more to look at right now. */
async function lookAtBlocks(network: Network): Promise<boolean> {
  const indexed = (await listIndexedNetworks(sql)).find((row) => row.network === network);
  if (!indexed) return false;
  await enqueueContracts(sql, indexed);
  const tokens = await enqueueTokens(sql, indexed);
  const updates = await enqueueUpdates(sql, indexed);
  const settled = await settleTokens(sql, indexed);
  const dropped = await dropTokens(sql, indexed);
  return [tokens, updates, settled, dropped].some(({ isDone }) => !isDone);
}

/** Tries until it works. */
function keepTrying(
  what: string,
  action: () => Promise<unknown>,
  { quietAttempts }: { quietAttempts: number },
): Promise<void> {
  const onFailure = (message: string) => {
    if (!isSilent) console.error(`worker: ${what} can't be used yet: ${message}`);
  };
  return retry(action, { signal, onFailure, quietAttempts });
}

/** A line now and then and at the end, where something was done. */
async function summarize(): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now();
    await sleep(SUMMARY_MS, undefined, { signal }).catch(() => {});
    const seconds = Math.max(1, Math.round((performance.now() - began) / 1000));
    const line = summary.next(seconds);
    if (line !== undefined && isLogged("info", config.logLevel)) console.log(line);
  }
}

/** Removes, now and then, files that a killed worker has left unfinished. */
async function clean(): Promise<void> {
  while (!signal.aborted) {
    await store.removeAbandoned();
    await sleep(CLEANING_MS, undefined, { signal }).catch(() => {});
  }
}
