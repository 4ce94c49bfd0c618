import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { text } from "../http/field.ts";
import { ContractAddress, ContractImageText, ContractName } from "../token/token-field.ts";
import { toArray } from "../sql/database.ts";
import { textJson } from "../sql/item.ts";
import { runLong } from "../sql/long-statement.ts";
import { isRead, itemsByPlace, LARGE, LARGE_OF_PAGE } from "./marketplace-body.ts";
import { CHAIN } from "../orderbook/trade-order.ts";

/** A collection on the marketplace. */
export const Collection = z
  .strictObject({
    collection_id: ContractAddress,
    collection_name: ContractName,
    collection_description: text(
      "What the contract's `contractURI()` says that it is about, up to 10,000 characters; empty where it says nothing.",
    ),
    collection_image: ContractImageText,
  })
  .openapi("Collection", {
    description:
      `A contract of tokens, as the marketplace shows it. Of descriptions with images ${LARGE} a page of collections has ` +
      `${LARGE_OF_PAGE}: those of others are empty.`,
  });
export type Collection = z.infer<typeof Collection>;

/**
 * Addresses without 0x of all contracts that aren't hidden. They come as one text, because a million rows took this process
 * a second. `sql`: connections for `runLong`: a chain may have millions of contracts.
 */
export async function listShownContracts(sql: Sql, { chainId }: { chainId: number }): Promise<string[]> {
  const [row] = await runLong<{ addresses: string | null }>(
    sql,
    (long) => long`
      select string_agg(encode(contract.contract_address, 'hex'), ',') as addresses
      from contract
      left join contract_metadata as hidden
        on hidden.chain_id = ${chainId}
        and hidden.contract_address = contract.contract_address
        and hidden.is_fungible
      where hidden.contract_address is null
    `,
    { isOverTables: true, isOverSets: true },
  );
  return row?.addresses?.split(",") ?? [];
}

/** These collections, in this order. Unknown ones and ERC-20 contracts are left out. */
export async function listCollections(
  sql: Sql,
  { chainId, addresses }: { chainId: number; addresses: readonly string[] },
): Promise<Collection[]> {
  return sql<Collection[]>`
    select
      '0x' || requested.address as collection_id,
      coalesce(contract_metadata.name, '') as collection_name,
      coalesce(contract_metadata.description, '') as collection_description,
      coalesce(contract_metadata.image, '') as collection_image
    from unnest(${toArray(addresses)}::text[]) with ordinality as requested (address, place)
    join contract
      on contract.contract_address = decode(requested.address, 'hex')
    left join contract_metadata
      on contract_metadata.chain_id = ${chainId}
      and contract_metadata.contract_address = contract.contract_address
    where contract_metadata.is_fungible is not true
    order by requested.place
  `;
}

/**
 * Joins the contracts of a page with their metadata. The contracts come from a list of known ones and aren't looked up.
 */
export const JOIN_COLLECTION = `
  cross join lateral (select decode(requested.address, 'hex') as contract_address) as contract
  left join lateral (
    select
      found.name,
      found.description,
      found.image,
      found.is_fungible
    from contract_metadata as found
    where
      found.chain_id = ${CHAIN}
      and found.contract_address = contract.contract_address
    limit 1
  ) as contract_metadata on true
`;

const TEXT_BYTES = ["description", "image"]
  .map((column) => `coalesce(octet_length(contract_metadata.${column}), 0)`)
  .join(" + ");
const read = (column: string) =>
  textJson(`case when ${isRead(`(${TEXT_BYTES})`, { place: "requested.place" })} then contract_metadata.${column} end`);

/** Collections as JSON. $1: their addresses without 0x. */
export const COLLECTION_ITEMS = itemsByPlace(`
  select
    '{"collection_id":"0x' || requested.address
    || '","collection_name":' || ${textJson("contract_metadata.name")}
    || ',"collection_description":' || ${read("description")}
    || ',"collection_image":' || ${read("image")} || '}' as item,
    requested.place
  from unnest($1::text[]) with ordinality as requested (address, place)
  ${JOIN_COLLECTION}
  where contract_metadata.is_fungible is not true
`);
