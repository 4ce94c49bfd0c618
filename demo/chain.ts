import { type Address, getContractAddress, type Hex } from "viem";
import { playActivity } from "./activity.ts";
import { DEMO_CHAIN_ID, startAnvil } from "./anvil.ts";
import { type DemoContract, encodeCall, encodeDeployment, NFT_CONTRACTS } from "./artifacts.ts";
import { bookMint } from "./erc721-activity.ts";
import { listHistory } from "./history.ts";
import { createMiner, type Miner } from "./miner.ts";
import { startOrigin } from "./origin/server.ts";
import { createRandom } from "./random.ts";
import { type Call, createWorld, PERSONAS, type World } from "./world.ts";

/** Where clients expect Multicall3 on every chain. */
export const MULTICALL3_ADDRESS: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

const SEED = 20_240_229;
const HISTORY_SECONDS = 6n * 86_400n;
/** Minted by one ERC-2309 log. */
const CRANES = 120;

export type DemoChain = {
  rpcUrl: string;
  chainId: number;
  /** `host:port` of the web server with the documents and media of some of the contracts. */
  originHost: string;
  contracts: Record<DemoContract, Address>;
  /** Mines one more event, now. Answers the hash of its transaction. */
  playEvent: () => Promise<Hex>;
  /** Settles when anvil has ended, whoever ended it. */
  ended: Promise<void>;
  stop: () => Promise<void>;
};

/**
 * A chain with NFT contracts and six days of activity on them, the same each time but for the hour. It goes on only
 * when `playEvent` is called.
 *
 * @param options.port of the JSON-RPC server, 0 for a free one
 * @param options.originPort of the web server, 0 for a free one
 */
export async function startDemoChain({
  port = 0,
  originPort = 0,
}: { port?: number; originPort?: number } = {}): Promise<DemoChain> {
  const startedAt = nowInSeconds();
  const genesisAt = startedAt - HISTORY_SECONDS;
  const origin = await startOrigin({ port: originPort });
  const anvil = await startAnvil({ port, timestamp: genesisAt, accounts: PERSONAS.length }).catch(async (error) => {
    await origin.stop();
    throw error;
  });
  const stop = async () => void (await Promise.all([anvil.stop(), origin.stop()]));

  try {
    const miner = createMiner(anvil.rpcUrl);
    const world = createWorld({ random: createRandom(SEED), accounts: await miner.client.getAddresses() });
    await putMulticall3(miner);
    const deployments = listDeployments(world, { originUrl: `http://${origin.host}` });
    const contracts = Object.fromEntries(
      deployments.map(({ contract }, nonce) => [
        contract,
        getContractAddress({ from: world.studio, nonce: BigInt(nonce) }).toLowerCase(),
      ]),
    ) as Record<DemoContract, Address>;
    const toTransaction = ({ from, contract, functionName, args }: Call) => ({
      from,
      to: contracts[contract],
      data: encodeCall(contract, functionName, args),
    });

    const blocks = [
      ...deployments.map(({ data }) => [{ from: world.studio, data }]),
      ...listHistory(world).map((calls) => calls.map(toTransaction)),
    ];
    for (const [i, transactions] of blocks.entries()) {
      const timestamp = startedAt - secondsAgo(world, { block: i, blocks: blocks.length });
      await miner.mineBlock({ transactions, timestamp });
    }

    const playEvent = async () => {
      const call = playActivity(world, { feed: "live" });
      const [receipt] = await miner.mineBlock({ transactions: [toTransaction(call)], timestamp: nowInSeconds() });
      if (!receipt) throw new Error("The block of a live event is empty. Expected its transaction.");
      return receipt.transactionHash;
    };
    return {
      rpcUrl: anvil.rpcUrl,
      chainId: DEMO_CHAIN_ID,
      originHost: origin.host,
      contracts,
      playEvent,
      ended: anvil.ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Closer together the younger they are: the newest ones are minutes old, and the live feed goes on from there. */
function secondsAgo(world: World, { block, blocks }: { block: number; blocks: number }): bigint {
  const ageOf = (i: number) => Math.floor((Number(HISTORY_SECONDS) * (blocks - i) ** 2) / blocks ** 2);
  return BigInt(ageOf(block) - world.random.below(ageOf(block) - ageOf(block + 1)));
}

/** Puts the code there by hand, since the chain lacks the signed transaction that deploys it elsewhere. */
async function putMulticall3({ client }: Miner): Promise<void> {
  // Calling creation code without a receiver answers what it would have deployed.
  const { data: bytecode } = await client.call({ data: encodeDeployment("Multicall3") });
  if (!bytecode) throw new Error("Multicall3 has no code. Expected what its creation code returns.");
  await client.setCode({ address: MULTICALL3_ADDRESS, bytecode });
}

function listDeployments(world: World, { originUrl }: { originUrl: string }): { contract: DemoContract; data: Hex }[] {
  bookMint(world, { contract: "PaperCranes", owner: world.studio, quantity: CRANES });
  const constructorArgs: Partial<Record<DemoContract, unknown[]>> = {
    PaperCranes: [world.studio, BigInt(CRANES)],
    MothAtlas: [`${originUrl}/moths/`],
    MeadowSeeds: [`${originUrl}/meadow/{id}.json`],
    Driftwood: [world.collectors],
  };
  return [...NFT_CONTRACTS, "Driftwood" as const].map((contract) => ({
    contract,
    data: encodeDeployment(contract, constructorArgs[contract]),
  }));
}

function nowInSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1000));
}
