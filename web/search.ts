import { html } from "hono/html";
import PQueue from "p-queue";
import { unavailable } from "../api/http/errors.ts";
import { type Contract, findContract } from "../api/token/contract.ts";
import { findContractsByName } from "../api/token/contract-search.ts";
import { renderCollections } from "./collection-list.ts";
import type { Page } from "./html.ts";
import { accountPath, collectionPath, tokenPath } from "./path.ts";
import { type Explorer, listReaders, type Reader } from "./reader.ts";
import { oneLine, withoutHidden } from "./text.ts";

/**
 * An address, or an address and a token id. Between them may stand any of the separators that people paste, and around
 * them the rest of a link to another site (`?a=` is Etherscan's) or of a name by CAIP-19.
 */
const PLACE =
  /^(?:\S*[/:])?(0x[0-9a-f]{40})(?:(?:[\s/#:,]+|\?a=)(0x[0-9a-f]{1,64}|[0-9]{1,78})?(?![0-9a-z]))?(?:[/?#&](?!\d)\S*)?$/;

/** The pattern takes quadratic time, which is 3 s for as many slashes as a request may have. */
const MAX_PLACE_LENGTH = 1000;

/** A collection's name and a token id, as people call a token. */
const NUMBERED = /^(.*\S)\s*#([0-9]{1,78})$/;

/** Most collections of each network that a page of results shows. */
const MAX_FOUND = 24;

/**
 * How many searches by name, one per network, run at a time, and how many may wait. Each scans the names of all
 * contracts, which takes a second for half a million. The other connections stay free for pages that only look up rows.
 */
const SEARCHES = 2;
const MAX_WAITING = 8;
const searches = new PQueue({ concurrency: SEARCHES });

const HINT = html`<p>
  Search for an address, an address and a token id, a link to either, a part of a collection’s name, or a collection’s
  name and #1. Names of accounts and hashes of transactions aren’t looked up.
</p>`;

/** The result of a search: a redirect to an address or a token, or a page of collections with that name. */
export async function search(explorer: Explorer, text: string): Promise<{ redirect: string } | Page> {
  // Pasted texts often have characters that are not seen, with which an address would be no address.
  const shown = withoutHidden(text).trim();
  const query = shown.toLowerCase();
  const readers = listReaders(explorer);
  const [, address, tokenId] = (query.length <= MAX_PLACE_LENGTH && PLACE.exec(query)) || [];
  if (address !== undefined) return { redirect: await findPath(readers, { address, tokenId }) };
  if (query === "")
    return {
      title: "Search",
      body: html`<h1>Search</h1>
        ${HINT}`,
    };
  return searchNames(readers, shown);
}

/** The token of that number, where one collection alone has such a name; else the collections. */
async function searchNumbered(
  readers: readonly Reader[],
  { name, tokenId }: { name: string; tokenId: string },
): Promise<{ redirect: string } | Page> {
  const found = await findByName(readers, name);
  const [only, ...others] = found.flatMap(({ reader: { network }, contracts }) =>
    contracts.map(({ contract_address }) => ({ network, contract_address })),
  );
  if (only && others.length === 0) return { redirect: tokenPath({ ...only, token_id: BigInt(tokenId).toString() }) };
  return renderFound(found, name);
}

/**
 * The page of an address. It is searched as a contract on all networks; if none has it, it is an account of the first.
 */
async function findPath(
  readers: readonly Reader[],
  { address, tokenId }: { address: string; tokenId: string | undefined },
): Promise<string> {
  for (const { network, sql, chainId } of readers) {
    if (!(await findContract(sql, { chainId, contractAddress: address }))) continue;
    const place = { network, contract_address: address };
    return tokenId === undefined
      ? collectionPath(place)
      : tokenPath({ ...place, token_id: BigInt(tokenId).toString() });
  }
  return accountPath({ network: readers[0]?.network ?? "mainnet", account_address: address });
}

/** Collections of that name, or the token that it names. @throws HttpError 503 where too many search at once */
async function searchNames(readers: readonly Reader[], text: string): Promise<{ redirect: string } | Page> {
  const found = await findByName(readers, text);
  const [, name, tokenId] = NUMBERED.exec(text) ?? [];
  if (name !== undefined && tokenId !== undefined && found.every(({ contracts }) => contracts.length === 0))
    return searchNumbered(readers, { name, tokenId });
  return renderFound(found, text);
}

type Found = { reader: Reader; contracts: Contract[] };

/** @throws HttpError 503 where too many search at once */
async function findByName(readers: readonly Reader[], text: string): Promise<Found[]> {
  if (searches.size >= MAX_WAITING) throw unavailable("Too many search for names at once.");
  return Promise.all(
    readers.map(async (reader) => ({
      reader,
      contracts: await searches.add(() => findContractsByName(reader.sql, { ...reader, text, limit: MAX_FOUND + 1 })),
    })),
  );
}

async function renderFound(found: readonly Found[], text: string): Promise<Page> {
  const lists = found.filter(({ contracts }) => contracts.length > 0);
  return {
    title: `Search for ${oneLine(text)}`,
    body: html`<h1>Collections named “<bdi>${oneLine(text)}</bdi>”</h1>
      ${
        lists.length === 0 &&
        html`<p>None.</p>
          ${HINT}`
      }
      ${await Promise.all(
        lists.map(
          async ({ reader, contracts }) =>
            html`${lists.length > 1 && html`<h2>On ${reader.network}</h2>`}
            ${await renderCollections(reader, { contracts: contracts.slice(0, MAX_FOUND) })}
            ${contracts.length > MAX_FOUND && html`<p>The first ${MAX_FOUND}. More of the name finds others.</p>`}`,
        ),
      )}`,
  };
}
