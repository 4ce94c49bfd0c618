import PQueue from "p-queue";
import { joinContractText } from "./contract.ts";
import { type RowStream, toArray } from "../sql/database.ts";
import { invalid, unavailable } from "../http/errors.ts";
import { ANY_BYTES, isWholeItem, itemUpTo, SMALL_DOCUMENT_BYTES } from "../sql/item.ts";
import { itemOf } from "../sql/item-page.ts";
import { joinToken, joinTokenMetadataText } from "./token.ts";
import { BATCH_TOKEN, TOKEN } from "./token-item.ts";

/**
 * The most bytes of documents in one batch. Nearly all documents on chain have less than 100 kB. A single token may
 * have more.
 */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/**
 * How many large documents this process reads at once. They are read one by one, so that nobody waits for those of
 * others.
 */
const LARGE_CONCURRENCY = 2;
/** Five whole batches. Five batches with documents of 155 kB take 0.6 s. */
const MAX_LARGE_WAITING = 500;
const largeReads = new PQueue({ concurrency: LARGE_CONCURRENCY });

/**
 * Rows: `item` of a token, or the size of its documents where they are too large, and the token's index in the array of
 * ids, from 1. In no order. A contract is looked up once for all of its tokens, because look-ups are most of what a
 * token costs Postgres.
 *
 * Parameters: the chain; for each contract its address without 0x and the first and last index of its tokens in the
 * array of token ids; that array; the bytes of documents.
 */
const tokensByKey = (item: string) => `
  select
    ${itemUpTo("$6", item)},
    requested.first + wanted.place - 1
  from unnest($2::text[], $3::int[], $4::int[]) as requested (contract_address, first, last)
  cross join lateral (
    select decode(requested.contract_address, 'hex') as contract_address
  ) as page
  ${joinContractText({ chainId: "$1", page: "page" })}
  cross join lateral unnest(($5::numeric[])[requested.first:requested.last])
    with ordinality as wanted (token_id, place)
  ${joinToken({
    columns: [
      "contract_address",
      "token_id",
      "owner",
      "mint_address",
      "mint_block_number",
      "mint_timestamp",
      "mint_transaction_hash",
    ],
    contractAddress: "contract.contract_address",
    tokenId: "wanted.token_id",
  })}
  ${joinTokenMetadataText({ chainId: "$1", page: "token" })}
  where contract_metadata.is_fungible is not true
`;
const TOKENS_BY_KEY = tokensByKey(TOKEN);
const BATCH_TOKENS_BY_KEY = tokensByKey(BATCH_TOKEN);

/** A token: its contract in 0x hex, and its id in decimal. */
export type TokenKey = { contract_address: string; token_id: string };
type Wanted = { chainId: number; tokens: readonly TokenKey[] };

/**
 * Finds tokens. Those that exist are returned as JSON with their index in `tokens`, in no order. Large ones come later.
 */
export async function findTokens(
  stream: RowStream,
  { chainId, tokens }: Wanted,
): Promise<{ json: string | Promise<string | undefined>; place: number }[]> {
  const found = await findByKey(stream, TOKENS_BY_KEY, { chainId, tokens });
  return found.map(({ item, place }) => ({
    json: isWholeItem(item) ? item : readLarge(stream, TOKENS_BY_KEY, { chainId, token: tokens[place] as TokenKey }),
    place,
  }));
}

/**
 * Tokens in the form of a batch, in the order in which they were asked for.
 *
 * @throws HttpError 400 where their documents are too large for one answer
 */
export async function listBatch(stream: RowStream, { chainId, tokens }: Wanted): Promise<string[]> {
  const found = await findByKey(stream, BATCH_TOKENS_BY_KEY, { chainId, tokens });
  const bytes = found.reduce((sum, { item }) => sum + (isWholeItem(item) ? item.length : Number(item)), 0);
  if (bytes > MAX_BATCH_BYTES && found.length > 1)
    throw invalid(`The documents of these tokens have ${bytes} bytes. Expected at most ${MAX_BATCH_BYTES} in a batch.`);
  const items = await Promise.all(
    found
      .toSorted((a, b) => a.place - b.place)
      .map(async ({ item, place }) =>
        isWholeItem(item)
          ? item
          : readLarge(stream, BATCH_TOKENS_BY_KEY, { chainId, token: tokens[place] as TokenKey }),
      ),
  );
  return items.filter((item) => item !== undefined);
}

/** A token with documents of any size. Undefined where it is gone meanwhile. */
async function readLarge(
  stream: RowStream,
  text: string,
  { chainId, token }: { chainId: number; token: TokenKey },
): Promise<string | undefined> {
  if (largeReads.size >= MAX_LARGE_WAITING) throw unavailable("Too many large documents are asked for.");
  return largeReads.add(async () => {
    const [found] = await findByKey(stream, text, { chainId, tokens: [token], documentBytes: ANY_BYTES });
    return found?.item;
  });
}

async function findByKey(
  stream: RowStream,
  text: string,
  { chainId, tokens, documentBytes = SMALL_DOCUMENT_BYTES }: Wanted & { documentBytes?: number },
): Promise<{ item: string; place: number }[]> {
  const contracts = Map.groupBy(tokens.keys(), (place) => tokens[place]?.contract_address ?? "");
  const places = [...contracts.values()].flat();
  const lasts: number[] = [];
  for (const { length } of contracts.values()) lasts.push((lasts.at(-1) ?? 0) + length);
  const parameters = [
    chainId,
    toArray([...contracts.keys()].map((address) => address.slice(2))),
    toArray([1, ...lasts.slice(0, -1).map((last) => last + 1)]),
    toArray(lasts),
    toArray(places.map((place) => tokens[place]?.token_id ?? "")),
    documentBytes,
  ];
  const found: { item: string; place: number }[] = [];
  await stream(text, parameters, (row) => {
    found.push({ item: itemOf(row).toString(), place: places[Number(row[1]) - 1] as number });
  });
  return found;
}
