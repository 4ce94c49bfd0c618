import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { SEAPORT_VERSIONS } from "../../abis/seaport.ts";
import { invalid } from "../http/errors.ts";
import type { OrderBody } from "./order-body.ts";
import type { OrderChain } from "./order-chain.ts";
import { digestOf, hashOrder, type OrderComponents, recoverSigner } from "./order-signature.ts";

/**
 * Versions to try for an exchange that is configured without one, the newest first: the signature fits only the right
 * one.
 */
const POSSIBLE_VERSIONS = [...new Set(Object.values(SEAPORT_VERSIONS))].toSorted().toReversed();

type Place = { exchange: Hex; version: string };
/** `contractDigest`: the digest that the offerer, a contract, says it signed; null where a key signed. */
type Found = Place & { order: OrderComponents; orderHash: Hex; contractDigest: Hex | null };

/** Exchanges that an order may be signed for: `exchange`, or all known ones. @throws HttpError 400 if it is unknown */
export function listPlaces(exchange: Hex | undefined, extraExchanges: readonly string[]): Place[] {
  // The newest version first; of the two exchanges of version 1.6, the one that is on most chains.
  const known = Object.entries(SEAPORT_VERSIONS).toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
  const extra = extraExchanges
    .filter((address) => !(address in SEAPORT_VERSIONS))
    .flatMap((address) => POSSIBLE_VERSIONS.map((version) => [address, version] as const));
  const all = [...known, ...extra].map(([address, version]) => ({ exchange: address as Hex, version }));
  if (exchange === undefined) return all;
  const own = all.filter((place) => place.exchange === exchange);
  if (own.length === 0) throw invalid(`exchange_address ${exchange} is unknown. Expected one of a Seaport.`);
  return own;
}

/** The exchange for which the offerer signed the order; undefined where the signature fits none. */
export async function findSigned(
  chain: OrderChain,
  {
    chainId,
    parameters,
    signature,
    places,
    counterAt,
  }: {
    chainId: number;
    parameters: OrderBody["parameters"];
    signature: Hex;
    places: Place[];
    counterAt: (exchange: Hex) => Promise<bigint>;
  },
): Promise<Found | undefined> {
  const candidates = await Promise.all(
    (await leaveOutOthers(chain, places)).map(async (place): Promise<Found> => {
      // An order without a counter is taken to be signed with the current one.
      const order = { ...parameters, counter: parameters.counter ?? (await counterAt(place.exchange)) };
      return { ...place, order, orderHash: hashOrder(order), contractDigest: null };
    }),
  );
  for (const found of candidates) {
    const signer = await recoverSigner(found.orderHash, signature, { ...found, chainId });
    if (signer === found.order.offerer) return found;
  }
  // Only a contract can be asked whether it signed, and only for exchanges that have code on this chain.
  if (!(await chain.hasCode(parameters.offerer))) return undefined;
  const isThere = await Promise.all(candidates.map(({ exchange }) => chain.hasExchange(exchange)));
  const possible = candidates.flatMap((found, index) =>
    isThere[index] ? [{ ...found, contractDigest: digestOf(found.orderHash, { ...found, chainId }) }] : [],
  );
  const answers = await Promise.all(
    possible.map(({ exchange, order, contractDigest: digest }) =>
      chain.isSignedByContract({ signer: order.offerer, digest, signature }, { exchange }),
    ),
  );
  // If a contract wallet says yes to several exchanges, the first one counts.
  return possible.find((_, index) => answers[index]);
}

/** Leaves out places with another version than their exchange gives for itself: nobody could fill such an order. */
async function leaveOutOthers(chain: OrderChain, places: Place[]): Promise<Place[]> {
  const versions = await Promise.all(
    places.map(async ({ exchange, version }) => (exchange in SEAPORT_VERSIONS ? version : chain.versionOf(exchange))),
  );
  return places.filter(({ version }, index) => (versions[index] ?? version) === version);
}

/** A maker's counters, each asked for once. */
export function createCounters(
  sql: Sql,
  chain: OrderChain,
  { maker }: { maker: Hex },
): (exchange: Hex) => Promise<bigint> {
  const counters = new Map<Hex, Promise<bigint>>();
  return (exchange) => {
    const counter = counters.get(exchange) ?? findCounter(sql, chain, { exchange, maker });
    counters.set(exchange, counter);
    return counter;
  };
}

/**
 * A maker's counter: the greater of the exchange's answer and its logs, because counters only grow. It may have been
 * raised before the first indexed block, so logs are not enough; and a node may lag behind the logs.
 */
async function findCounter(
  sql: Sql,
  chain: OrderChain,
  { exchange, maker }: { exchange: Hex; maker: Hex },
): Promise<bigint> {
  const [told = 0n, [row]] = await Promise.all([
    chain.hasExchange(exchange).then((isThere) => (isThere ? chain.counterOf(exchange, maker) : undefined)),
    sql<{ counter: string }[]>`
      select counter
      from order_counter
      where
        exchange_address = ${toBytes(exchange)}
        and maker = ${toBytes(maker)}
    `,
  ]);
  const logged = BigInt(row?.counter ?? 0);
  return told > logged ? told : logged;
}

/**
 * Whether a maker's counter is in the logs, or will be once those of the last blocks are indexed. It isn't where it was
 * raised before the first indexed block.
 */
export async function isCounterLogged(
  sql: Sql,
  chain: OrderChain,
  { exchange, maker, counter }: { exchange: Hex; maker: Hex; counter: bigint },
): Promise<boolean> {
  if (counter === 0n) return false;
  const [known] = await sql<[{ indexed_block: number | null; is_logged: boolean }]>`
    select
      (
        select network.indexed_block::float8
        from network
        where network.name = 'mainnet'
      ) as indexed_block,
      exists (
        select
        from order_counter
        where
          order_counter.exchange_address = ${toBytes(exchange)}
          and order_counter.maker = ${toBytes(maker)}
      ) as is_logged
  `;
  // Counters only grow: from the first one that is logged on, all are.
  if (known.is_logged || known.indexed_block === null) return known.is_logged;
  const indexed = await chain.counterAt(exchange, maker, known.indexed_block);
  return indexed !== undefined && indexed !== counter;
}
