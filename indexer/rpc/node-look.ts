import { BlockNotFoundError, createPublicClient, type PublicClient } from "viem";
import { hostOf } from "../../net/node-address.ts";
import { transportTo } from "./rpc-client.ts";

/** A block, and the hash that it is known by. */
export type KnownBlock = { number: number; hash: string };

/** One look at all nodes of a network. What was asked once in a look isn't asked again. */
export type NodeLook = {
  /** Whether a node answers for the chain. */
  isAnswered: () => Promise<boolean>;
  /** Says which chain the nodes answer for, where all of them answer for another one. */
  findProblem: () => Promise<string | undefined>;
  /** A block's hash by each node: null where it lacks the block, undefined where it is silent or of another chain. */
  hashesAt: (number: number) => Promise<string | null | undefined>[];
};

type Node = { host: string; client: PublicClient };

/** Creates the function that begins a look at the nodes of a chain. */
export function createNodeLooks(rpcUrls: string[], chain: { chainId: number }): () => NodeLook {
  const nodes = rpcUrls.map((url) => ({
    host: hostOf(url),
    client: createPublicClient({ transport: transportTo(url) }),
  }));
  return () => lookAt(nodes, chain);
}

/** Nodes are asked for their chain each time: behind a URL there may be another one than before. */
function lookAt(nodes: Node[], { chainId }: { chainId: number }): NodeLook {
  const told = nodes.map(({ client }) => client.getChainId().catch(() => undefined));
  const askForHash = async (place: number, number: number) => {
    if ((await told[place]) !== chainId) return undefined;
    try {
      return (await nodes[place]!.client.getBlock({ blockNumber: BigInt(number) })).hash;
    } catch (error) {
      return error instanceof BlockNotFoundError ? null : undefined;
    }
  };
  const asked = new Map<number, Promise<string | null | undefined>[]>();
  return {
    isAnswered: () => isAny(told, (id) => id === chainId),
    findProblem: async () => {
      const ids = await Promise.all(told);
      if (ids.some((id) => id === undefined || id === chainId)) return undefined;
      return `${nodes[0]!.host} answers for chain ${ids[0]}. Expected ${chainId}`;
    },
    hashesAt: (number) => {
      if (!asked.has(number))
        asked.set(
          number,
          nodes.map((_, place) => askForHash(place, number)),
        );
      return asked.get(number)!;
    },
  };
}

/** Whether `is` holds for any value. Settles with the first one: a node may be silent for long. */
function isAny<T>(promises: Promise<T>[], is: (value: T) => boolean): Promise<boolean> {
  const those = promises.map(async (promise) => is(await promise) || Promise.reject(new Error("It isn't.")));
  return Promise.any(those).catch(() => false);
}

/** What became of a block: "untold" where no node says. */
export type BlockState = "kept" | "gone" | "untold";

/**
 * Whether the chain still has a block that was taken for final. If it is gone, that is a reorg deeper than Ponder can
 * undo; Ponder says the same of a node that merely lags. So the block is gone only where a node has another one in its
 * place and no node still has it.
 */
export async function findBlock({ number, hash }: KnownBlock, look: NodeLook): Promise<BlockState> {
  const hashes = look.hashesAt(number);
  if (await isAny(hashes, (one) => one === hash)) return "kept";
  const told = (await Promise.all(hashes)).filter((one) => one !== undefined);
  if (told.length === 0) return "untold";
  return told.every((one) => one === null) ? "kept" : "gone";
}

/** The hash of a block, where all nodes that have it agree, and none disagrees about the known blocks before it. */
export async function findAgreedHash(
  number: number,
  { look, blocks }: { look: NodeLook; blocks: KnownBlock[] },
): Promise<string | undefined> {
  const known = await Promise.all(
    blocks.map(async (block) => ({ ...block, told: await Promise.all(look.hashesAt(block.number)) })),
  );
  if (known.some(({ hash, told }) => told.some((one) => one && one !== hash))) return undefined;
  const hashes = await Promise.all(look.hashesAt(number));
  const sure = hashes.filter((_, place) => known.every(({ told }) => told[place] !== undefined));
  const [first, ...others] = new Set(sure.filter((one) => typeof one === "string"));
  return others.length === 0 ? first : undefined;
}
