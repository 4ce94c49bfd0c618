import { beforeAll, expect, test } from "vitest";
import { MAINNET_ID } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import {
  highestOffer,
  isNative,
  leftOf,
  listingsOf,
  offersOf,
  priceOf,
  type Standing,
} from "../../test/order-oracle.ts";
import { insertWorld, NOW, randomOf, randomWorld, type Token, type World } from "../../test/random-orders.ts";
import { findFloor } from "./floor.ts";
import { type RowStream, streamOf } from "../sql/database.ts";
import { listAccountListings, type ListedKey, listListings } from "./listed-token.ts";
import { listedOneByOne, listedOverSets } from "../marketplace/marketplace-listing.ts";
import { namesOf, type Scope, scopeParameters } from "../marketplace/marketplace-scope.ts";
import type { Page } from "../marketplace/marketplace-list.ts";
import { writeAccountPage, writeCollectionPage } from "../marketplace/marketplace-token.ts";
import { listOffers } from "./token-offer.ts";
import { findOrderbookItems, listCollectionItems, listOwnedItems, type OrderbookToken } from "./orderbook.ts";
import type { Page as Body } from "../http/page.ts";

/** Enough random worlds that each rule decides about some order in one of them. */
const SEEDS = Array.from({ length: 12 }, (_, n) => 1 + n);
const moment = { chainId: MAINNET_ID, now: NOW };

const { sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  fetch_types: false,
  types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
  connection: { search_path: "onchain_mainnet,offchain" },
});
let stream: RowStream;

beforeAll(async () => {
  stream = streamOf(sql);
});

const TABLES = ["contract", "token", "ownership", "trade_order", "order_counter", "approval"];
const OUR_TABLES = ["signed_order", "listing_approval", "offer_funds"];

const itemsOf = (page: Body) => (JSON.parse(page.finish(() => "").toString()) as { result: OrderbookToken[] }).result;
const dataOf = (body: Buffer) => (JSON.parse(body.toString()) as { data: Record<string, unknown>[] }).data;
const decimalOf = (tokenId: string) => BigInt(tokenId).toString();
/** The fields of a marketplace item that its orders decide. */
const saleOf = ({ token_id, amount, currency_address, price }: Record<string, unknown>) => ({
  token_id,
  amount,
  currency_address,
  price,
});
const ownOf = ({ contract, token_id, amount, list_price, best_offer, balance }: Record<string, unknown>) => ({
  contract,
  token_id,
  amount,
  list_price,
  best_offer,
  balance,
});
const whole = (amount: bigint | undefined) => (amount === undefined ? null : Number(`${amount}e-18`));

/** The fields of an Orderbook item that are compared. */
const essence = (token: OrderbookToken) => ({
  place: [token.contract_address, decimalOf(token.token_id)],
  order_hash: token.order_hash,
  current_price: token.current_price,
  quantity: token.order_hash && token.quantity,
  has_offer: token.has_offer,
});
function expectedOf(world: World, token: Token) {
  const [best] = listingsOf(world, token);
  return {
    place: [token.contract_address, token.token_id],
    order_hash: best?.order_hash ?? "",
    current_price: best ? priceOf(best).toString() : "",
    quantity: best ? (best.quantity - best.filled).toString() : "",
    has_offer: String(offersOf(world, token).length > 0),
  };
}
/** A listing's place in the list of its contract: fixed prices in the chain's own currency come first. */
const keyOf = (order: Standing): ListedKey =>
  order.unit_price !== null && isNative(order)
    ? ["fixed", order.unit_price.toString(), order.order_hash, order.exchange_address]
    : ["other", "0", order.order_hash, order.exchange_address];
const compareKeys = ([phase, price, ...place]: ListedKey, [otherPhase, otherPrice, ...otherPlace]: ListedKey) =>
  phase.localeCompare(otherPhase) ||
  Number(price) - Number(otherPrice) ||
  place.join().localeCompare(otherPlace.join());

/** Page size, so small that a list has several pages. */
const LIMIT = 4;
/** All keys of a list, page by page. */
async function walk<T>(load: (after: T | undefined) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let isEnd = false; !isEnd;) {
    const page = await load(found.at(-1));
    expect(page.length).toBeLessThanOrEqual(LIMIT);
    found.push(...page);
    isEnd = page.length < LIMIT;
  }
  return found;
}
const asks = (orders: readonly Standing[]) => orders.filter(isNative).map(priceOf);
const lowest = (prices: readonly bigint[]) => prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[0];
const keysOf = (tokens: readonly Token[]): Page => ({
  kind: "keys",
  addresses: tokens.map(({ contract_address }) => contract_address.slice(2)),
  ids: tokens.map(({ token_id }) => token_id),
});

test.each(SEEDS)("world %i: all statements say of each token what the rules say", async (seed) => {
  const world = randomWorld(randomOf(seed));
  await sql.unsafe(`truncate ${TABLES.map((name) => `onchain_mainnet.${name}`).join(", ")}, ${OUR_TABLES.join(", ")}`);
  await insertWorld(sql, world);

  const expected = world.tokens.map((token) => expectedOf(world, token));
  const found = await findOrderbookItems(stream, { ...moment, tokens: world.tokens });
  const byKey = found.toSorted((a, b) => a.place - b.place).map(({ json }) => JSON.parse(json) as OrderbookToken);
  expect(byKey.map(essence)).toEqual(expected);

  for (const contractAddress of new Set(world.tokens.map((token) => token.contract_address))) {
    const tokens = world.tokens.filter((token) => token.contract_address === contractAddress);
    const page = await listCollectionItems(stream, { ...moment, contractAddress, after: undefined, limit: 250 });
    // The statement that joins the whole range returns the same items as the one that joins token by token.
    expect(itemsOf(page)).toEqual(byKey.filter((token) => token.contract_address === contractAddress));

    const prices = asks(tokens.flatMap((token) => listingsOf(world, token)));
    const floor = lowest(prices);
    expect(await findFloor(sql, { ...moment, contractAddress })).toBe(floor?.toString() ?? null);

    const listings = tokens.flatMap((token) => listingsOf(world, token)).map(keyOf);
    const walked = await walk((after: ListedKey | undefined) =>
      listListings(sql, { ...moment, contractAddress, after, limit: LIMIT }).then((rows) => rows.map(({ key }) => key)),
    );
    expect(walked).toEqual(listings.toSorted(compareKeys));

    const range: Page = { kind: "range", fromAddress: contractAddress.slice(2), fromId: "0", offset: 0, limit: 250 };
    for (const kind of [range, keysOf(tokens)]) {
      const options = { ...moment, contractAddress, page: kind, isBuyNow: true, about: { token_count: 0 } };
      expect(dataOf(await writeCollectionPage(stream, options)).map(saleOf)).toEqual(
        tokens.flatMap((token) => {
          const [best] = listingsOf(world, token);
          if (!best) return [];
          const { currency_address } = best;
          const price = isNative(best) ? whole(priceOf(best)) : null;
          return [{ token_id: token.token_id, amount: priceOf(best).toString(), currency_address, price }];
        }),
      );
    }
    await expectListed({ ...moment, contractAddress }, world, tokens);
  }

  for (const token of world.tokens) {
    const offers = await listOffers(sql, {
      ...moment,
      contractAddress: token.contract_address,
      tokenId: token.token_id,
    });
    expect(offers).toEqual(
      offersOf(world, token).map((order) => ({
        offer_maker: order.maker,
        offer_amount: leftOf(order).amount.toString(),
        offer_quantity: leftOf(order).quantity.toString(),
        offer_timestamp: order.placed_timestamp,
        currency_address: order.currency_address,
        order_hash: order.order_hash,
        exchange: order.marketplace,
      })),
    );
  }

  for (const accountAddress of new Set(world.signed.map(({ maker }) => maker))) {
    const isOwn = ({ maker }: Standing) => maker === accountAddress;
    const held = world.tokens.filter(
      (token) => token.owner === accountAddress || (token.balances.get(accountAddress) ?? 0n) > 0n,
    );
    const owned = await listOwnedItems(stream, { ...moment, accountAddress, after: undefined, limit: 250 });
    expect(itemsOf(owned).map(essence)).toEqual(held.map((token) => expectedOf(world, token)));

    const selling = world.tokens.filter((token) => listingsOf(world, token).some(isOwn));
    const listed = await walk(async (after: [string, string] | undefined) => {
      const rows = await listAccountListings(sql, { ...moment, accountAddress, after, limit: LIMIT });
      return rows.map(({ contract_address, token_id }): [string, string] => [contract_address, token_id]);
    });
    expect(listed).toEqual(selling.map(({ contract_address, token_id }) => [contract_address, token_id]));
    await expectListed({ ...moment, accountAddress }, world, selling);

    const range: Page = { kind: "range", fromAddress: "", fromId: "0", offset: 0, limit: 250 };
    for (const page of [range, keysOf(held)]) {
      const body = await writeAccountPage(stream, {
        ...moment,
        accountAddress,
        page,
        isBuyNow: false,
        about: { token_count: 0 },
      });
      expect(dataOf(body).map(ownOf)).toEqual(
        held.map((token) => {
          const best = listingsOf(world, token).find(isOwn);
          return {
            contract: token.contract_address,
            token_id: token.token_id,
            amount: best ? priceOf(best).toString() : "",
            list_price: best && isNative(best) ? whole(priceOf(best)) : null,
            best_offer: whole(highestOffer(world, token, accountAddress)),
            balance: (token.balances.get(accountAddress) ?? 1n).toString(),
          };
        }),
      );
    }
  }
});

/** Both ways to find what is on sale in a scope, of an account the only one, with the best price of each token. */
async function expectListed(scope: Scope, world: World, tokens: readonly Token[]): Promise<void> {
  const isOwn = ({ maker }: Standing) => scope.accountAddress === undefined || maker === scope.accountAddress;
  const expected = tokens.flatMap((token) => {
    const best = listingsOf(world, token).find(isOwn);
    if (!best) return [];
    const rank = priceOf(best) + (isNative(best) ? 0n : 10n ** 80n);
    return [{ contract: token.contract_address, token_id: token.token_id, rank: rank.toString() }];
  });
  const names = namesOf(scope);
  const { contract } = names;
  const overSets = contract === undefined ? [] : [listedOverSets({ ...names, contract })];
  for (const listed of [listedOneByOne(names), ...overSets]) {
    const rows = await sql.unsafe(
      `
        select
          '0x' || encode(contract_address, 'hex') as contract,
          token_id,
          rank
        from (${listed}) as listed
        order by
          contract_address,
          token_id
      `,
      scopeParameters(scope),
    );
    expect([...rows]).toEqual(expected);
  }
}
