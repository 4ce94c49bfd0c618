import type { Sql } from "postgres";
import { toBytes } from "../offchain/bytea.ts";
import { addressOf, hashOf, inserter, MAINNET_ID, TESTNET_ID, ZERO } from "./api.ts";

/** The second by which the orders of a random world are judged. */
export const NOW = 1_750_000_000;
const NO_END = Number.MAX_SAFE_INTEGER;
const SEAPORT = addressOf(0x5ea);
const ZORA = addressOf(0x20a);
const DOLLARS = addressOf(0xd0);
const OPERATORS = [addressOf(0xc0d), addressOf(0xc0e)];
const WRAPPED = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";

/** The terms of an order, as both tables of orders have them. */
export type Order = {
  exchange_address: string;
  order_hash: string;
  side: "listing" | "offer";
  maker: string;
  contract_address: string;
  token_id: string | null;
  token_standard: string | null;
  quantity: bigint;
  currency_address: string;
  start_amount: bigint;
  end_amount: bigint;
  unit_price: bigint | null;
  amounts: [bigint, bigint][] | null;
  start_time: number;
  end_time: number;
  counter: bigint | null;
  operator: string | null;
  taker: string | null;
  broker: string;
  placed_timestamp: number;
};
/** What became of an order on the chain. `order`: its terms, where they are known from there. */
type State = {
  exchange_address: string;
  order_hash: string;
  marketplace: string;
  is_cancelled: boolean;
  filled: bigint;
  order: Order | undefined;
};
/** A token and who holds how many units of it. */
export type Token = {
  contract_address: string;
  token_id: string;
  standard: string;
  owner: string | null;
  balances: Map<string, bigint>;
};
type Answer = { contract_address: string; owner: string; operator: string; is_approved: boolean; block_number: number };
type Approval = Answer & { log_index: number };
type TokenAnswer = Answer & { token_id: string };

/** All that decides which orders could be filled. */
export type World = {
  tokens: Token[];
  states: State[];
  signed: Order[];
  /** Hashes of signed ones whose wallets say that they didn't sign them. */
  disowned: Set<string>;
  counters: { exchange_address: string; maker: string; counter: bigint }[];
  approvals: Approval[];
  tokenApprovals: TokenAnswer[];
  funds: { currency_address: string; maker: string; operator: string; spendable: bigint }[];
};

/** A number below `n`, the same ones for the same seed. */
type Random = (n: number) => number;
/** Creates such numbers. */
export function randomOf(seed: number): Random {
  let state = seed;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) % n;
  };
}

/** Few of everything, so that all circumstances meet. */
export function randomWorld(random: Random): World {
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  const chance = (percent: number) => random(100) < percent;
  const contracts = [addressOf(0xc1), addressOf(0xc2)];
  const makers = [1, 2, 3, 4].map((n) => addressOf(0xa0 + n));
  const exchanges = [SEAPORT, ZORA];
  const ids = Array.from({ length: 20 }, (_, n) => String(1 + n * n));

  const tokens = contracts.flatMap((contract_address) =>
    ids
      .filter((_, n) => n % 9 !== 4)
      .map((token_id): Token => {
        const isUnits = chance(40);
        const balances = new Map(makers.filter(() => isUnits && chance(70)).map((maker) => [maker, BigInt(random(5))]));
        const owner = isUnits ? null : chance(5) ? ZERO : pick(makers);
        return { contract_address, token_id, standard: isUnits ? "ERC1155" : "ERC721", owner, balances };
      }),
  );
  /** Most orders take a token for what it is. */
  const standardOf = (contract_address: string, token_id: string | null) => {
    const token = tokens.find((one) => one.contract_address === contract_address && one.token_id === token_id);
    return chance(90) && token ? token.standard : pick(["ERC721", "ERC1155", "CRYPTOPUNKS"]);
  };
  const order = (n: number): Order => {
    const side = chance(70) ? "listing" : "offer";
    const hasEnd = chance(60);
    const isChanging = hasEnd && chance(35);
    const quantity = chance(60) ? 1n : BigInt(1 + random(5));
    const amounts = Array.from({ length: 1 + random(3) }, (): [bigint, bigint] =>
      chance(10) ? [0n, 0n] : [BigInt(random(40)) * 10n ** BigInt(random(20)), BigInt(random(1000))],
    );
    const [start_amount, end_amount] = isChanging
      ? [amounts.reduce((sum, [start]) => sum + start, 0n), amounts.reduce((sum, [, end]) => sum + end, 0n)]
      : [BigInt(1 + random(20)), 0n];
    const contract_address = pick(contracts);
    const token_id = side === "offer" && chance(10) ? null : pick(ids);
    return {
      exchange_address: pick(exchanges),
      order_hash: hashOf(n),
      side,
      maker: pick(makers),
      contract_address,
      token_id,
      token_standard: chance(10) ? null : standardOf(contract_address, token_id),
      quantity,
      currency_address: pick([ZERO, ZERO, WRAPPED, DOLLARS]),
      start_amount,
      end_amount: isChanging ? end_amount : start_amount,
      unit_price: isChanging ? null : (start_amount + quantity - 1n) / quantity,
      amounts: isChanging ? amounts : null,
      // Some begin or end at this very second, or one beside it.
      start_time: NOW + (chance(20) ? random(2) : -random(1001)),
      end_time: hasEnd ? NOW + (chance(10) ? -random(2) : 3000 + random(1000)) : NO_END,
      counter: chance(10) ? null : chance(85) ? 0n : 3n,
      operator: chance(15) ? null : pick(OPERATORS),
      taker: chance(5) ? pick(makers) : null,
      broker: addressOf(0xb20),
      placed_timestamp: NOW - random(3),
    };
  };
  const stateOf = (one: Order, isKnown: boolean): State => ({
    exchange_address: one.exchange_address,
    order_hash: one.order_hash,
    marketplace: isKnown && chance(20) ? "zora" : "seaport",
    is_cancelled: chance(8),
    filled: chance(15) ? pick([1n, one.quantity - 1n, one.quantity]) : 0n,
    order: isKnown ? one : undefined,
  });
  const elsewhere = (one: Order) => ({ ...one, exchange_address: one.exchange_address === SEAPORT ? ZORA : SEAPORT });
  const placed = Array.from({ length: 150 }, (_, n) => order(n));
  // Two exchanges may have orders with one hash, as Zora's modules have for one token: with the same price or another.
  const twins = placed
    .filter(() => chance(15))
    .map((one) => {
      const unit_price = one.unit_price && one.unit_price + BigInt(random(3));
      const amount = unit_price && unit_price * one.quantity;
      return { ...elsewhere(one), unit_price, ...(amount && { start_amount: amount, end_amount: amount }) };
    });
  const onChain = [...placed, ...twins];
  const signed = Array.from({ length: 150 }, (_, n) => ({
    ...order(1000 + n),
    counter: BigInt(random(8) === 0 ? 3 : 0),
    operator: pick(OPERATORS),
  }));
  const answers = (count: number, contractsOf: readonly string[], operatorsOf: readonly string[]) =>
    Array.from({ length: count }, () => ({
      contract_address: pick(contractsOf),
      owner: pick(makers),
      operator: pick(operatorsOf),
      is_approved: chance(60),
    }));
  const modules = answers(4, exchanges, exchanges).map((one) => ({ ...one, operator: one.contract_address }));
  const approvals = [...answers(18, contracts, OPERATORS), ...modules].map((one, n) => ({
    ...one,
    block_number: 1 + (n >> 2),
    log_index: n & 3,
  }));
  return {
    tokens,
    // Some of the signed ones were put on chain too, of some it is only known what became of them; and an order may be
    // signed for two exchanges under one hash.
    states: [
      ...onChain.map((one) => stateOf(one, true)),
      ...signed.filter(() => chance(20)).map((one) => stateOf(one, chance(30))),
      ...signed.filter(() => chance(10)).map((one) => stateOf(elsewhere(one), false)),
    ],
    signed,
    counters: exchanges.flatMap((exchange_address) =>
      makers.filter(() => chance(25)).map((maker) => ({ exchange_address, maker, counter: pick([1n, 3n, 3n]) })),
    ),
    approvals,
    // In the block of what was said of all, or in one beside it.
    tokenApprovals: tokens.flatMap(({ contract_address, token_id }) =>
      makers
        .filter(() => chance(30))
        .map((owner) => {
          const operator = pick(OPERATORS);
          const said = approvals.findLast((one) => one.owner === owner && one.operator === operator);
          const block_number = Math.max((said?.block_number ?? 1) - 1 + random(3), 0);
          return { contract_address, token_id, owner, operator, is_approved: chance(50), block_number };
        }),
    ),
    funds: [ZERO, WRAPPED, DOLLARS].flatMap((currency_address) =>
      makers
        .filter(() => chance(50))
        .map((maker) => ({
          currency_address,
          maker,
          operator: pick(OPERATORS),
          spendable: BigInt(random(30)),
        })),
    ),
    disowned: new Set(signed.filter(() => chance(15)).map(({ order_hash }) => order_hash)),
  };
}

/** Puts a world into the tables, which have nothing else of the kind. */
export async function insertWorld(sql: Sql, world: World): Promise<void> {
  const row = (values: object) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]: [string, unknown]) => [
        name,
        typeof value === "string" && value.startsWith("0x")
          ? toBytes(value)
          : typeof value === "bigint"
            ? value.toString()
            : Array.isArray(value)
              ? `[${(value as bigint[][]).map((part) => `[${part.join(",")}]`).join(",")}]`
              : value,
      ]),
    );
  const insert = async (table: string, rows: object[]) => {
    if (rows.length > 0) await sql`insert into ${sql(table)} ${sql(rows.map(row) as never)}`;
  };
  const { contract } = inserter(sql);
  for (const address of new Set(world.tokens.map((token) => token.contract_address))) await contract(address);
  await insert(
    "onchain_mainnet.token",
    world.tokens.map(({ contract_address, token_id, standard, owner }) => ({
      contract_address,
      token_id,
      standard,
      owner,
    })),
  );
  await insert(
    "onchain_mainnet.ownership",
    world.tokens.flatMap(({ contract_address, token_id, balances }) =>
      [...balances].map(([owner, balance], n) => ({
        contract_address,
        token_id,
        owner,
        balance,
        received_block_number: 1,
        received_log_index: n,
        received_batch_index: 0,
      })),
    ),
  );
  const known = world.states.filter(({ order }) => order);
  const terms = ({ order, ...state }: State) => ({
    ...order,
    ...state,
    is_open: order !== undefined && !state.is_cancelled && state.filled < order.quantity,
    updated_timestamp: NOW,
  });
  await insert("onchain_mainnet.trade_order", known.map(terms));
  await insert("onchain_mainnet.trade_order", world.states.filter(({ order }) => !order).map(terms));
  // Of the other network there is as much in the same tables, which says otherwise.
  const onBoth = <T extends object>(rows: readonly T[], otherwise: (one: T) => Partial<T>) =>
    rows.flatMap((one) => [
      { ...one, chain_id: MAINNET_ID },
      { ...one, chain_id: TESTNET_ID, ...otherwise(one) },
    ]);
  // Before the offers, by which bidders that nobody was told of have a row without an answer.
  await insert(
    "offchain.offer_funds",
    onBoth(world.funds, ({ spendable }) => ({ spendable: 30n - spendable })),
  );
  const signed = world.signed.map((order) => ({
    ...order,
    parameters: "{}",
    signature: "0x00",
    is_disowned: world.disowned.has(order.order_hash),
  }));
  await insert(
    "offchain.signed_order",
    onBoth(signed, ({ order_hash, is_disowned }) => ({
      order_hash: order_hash.replace("0x0", "0x1"),
      is_disowned: !is_disowned,
    })),
  );
  await insert("onchain_mainnet.order_counter", world.counters);
  await insert("onchain_mainnet.approval", world.approvals);
  await insert(
    "offchain.listing_approval",
    onBoth(world.tokenApprovals, ({ operator }) => ({
      operator: OPERATORS.find((one) => one !== operator)!,
      is_approved: false,
    })),
  );
}
