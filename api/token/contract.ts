import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { textJson } from "../sql/item.ts";
import { contract } from "./indexer-example.ts";
import { ContractAddress, ContractImage, ContractName, ContractSymbol, ContractType } from "./token-field.ts";

/** A contract in answers. */
export const Contract = z
  .strictObject({
    contract_address: ContractAddress,
    contract_type: ContractType,
    name: ContractName,
    symbol: ContractSymbol,
    image: ContractImage,
  })
  .openapi("Contract", {
    description: "A contract of tokens, which others call a collection.",
    example: contract,
  });
export type Contract = z.infer<typeof Contract>;

/** A contract with its place in the list of all, which is in the order in which they were first seen. */
type ContractRow = Contract & { block_number: number; log_index: number };

/**
 * SQL of a contract's type: what it says by ERC-165, else what its first event looked like. The market of the punks
 * says nothing.
 */
export const CONTRACT_TYPE = `
  case
    when contract.contract_type = 'CRYPTOPUNKS' then contract.contract_type
    else coalesce(contract_metadata.erc165_type, contract.contract_type)
  end
`;
/** The same as a fragment. */
export const contractType = (sql: Sql): Fragment => sql.unsafe(CONTRACT_TYPE);

/**
 * The beginning of a statement over one contract: its type, and no row where the contract is hidden. $2: chain, $3:
 * contract.
 */
export const WITH_CONTRACT_TYPE = `
  with contract_type as materialized (
    select ${CONTRACT_TYPE} as contract_type
    from contract
    left join contract_metadata
      on contract_metadata.chain_id = $2
      and contract_metadata.contract_address = contract.contract_address
    where
      contract.contract_address = $3
      and contract_metadata.is_fungible is not true
  )
`;

/** SQL of a contract as JSON, made of columns of `contract` and `contract_metadata`. */
export const CONTRACT_ITEM = `
  '{"contract_address":"0x' || encode(contract.contract_address, 'hex')
  || '","contract_type":"' || ${CONTRACT_TYPE}
  || '","name":' || ${textJson("contract_metadata.name")}
  || ',"symbol":' || ${textJson("contract_metadata.symbol")}
  || ',"image":' || coalesce(to_json(contract_metadata.image)::text, 'null') || '}'
`;

/** The fields of a contract, made of columns of `contract` and `contract_metadata`. */
export const contractColumns = (sql: Sql): Fragment => sql`
  '0x' || encode(contract.contract_address, 'hex') as contract_address,
  ${contractType(sql)} as contract_type,
  coalesce(contract_metadata.name, '') as name,
  coalesce(contract_metadata.symbol, '') as symbol,
  contract_metadata.image
`;

/**
 * SQL of whether a contract isn't hidden. It is a scalar look-up, because the planner makes `not exists` a hash of all
 * hidden contracts.
 */
export const isShownText = ({ chainId, contractAddress }: { chainId: string; contractAddress: string }) => `
  (
    select true
    from contract_metadata as hidden
    where
      hidden.chain_id = ${chainId}
      and hidden.contract_address = ${contractAddress}
      and hidden.is_fungible
    limit 1
  ) is not true
`;
/** The same as a fragment. */
export const isShown = (
  sql: Sql,
  { chainId, contractAddress }: { chainId: number; contractAddress: string },
): Fragment => sql.unsafe(isShownText({ chainId: String(chainId), contractAddress }));

/** SQL that joins to each row of `page` the metadata of its contract, with a limit as in `joinContractText`. */
export const joinContractMetadataText = ({ chainId, page }: { chainId: string; page: string }) => `
  left join lateral (
    select
      found.name,
      found.symbol,
      found.image,
      found.erc165_type,
      found.is_fungible
    from contract_metadata as found
    where
      found.chain_id = ${chainId}
      and found.contract_address = ${page}.contract_address
    limit 1
  ) as contract_metadata on true
`;

/** SQL that joins to each row of `page` its contract. The limit keeps the planner from beginning with all contracts. */
export const joinContractText = ({ chainId, page }: { chainId: string; page: string }) => `
  cross join lateral (
    select
      found.contract_address,
      found.contract_type
    from contract as found
    where found.contract_address = ${page}.contract_address
    limit 1
  ) as contract
  ${joinContractMetadataText({ chainId, page })}
`;
/** The same as a fragment. */
export const joinContract = (sql: Sql, { chainId, page }: { chainId: number; page: string }): Fragment =>
  sql.unsafe(joinContractText({ chainId: String(chainId), page }));

/** The contract, undefined where it is unknown or hidden. */
export async function findContract(
  sql: Sql,
  { chainId, contractAddress }: { chainId: number; contractAddress: string },
): Promise<Contract | undefined> {
  const [row] = await sql<Contract[]>`
    select ${contractColumns(sql)}
    from contract
    left join contract_metadata
      on contract_metadata.chain_id = ${chainId}
      and contract_metadata.contract_address = contract.contract_address
    where
      contract.contract_address = ${toBytes(contractAddress)}
      and contract_metadata.is_fungible is not true
  `;
  return row;
}

/** Contracts in the order in which they were first seen. `after`: the place of the last one before. */
export async function listContracts(
  sql: Sql,
  { chainId, after, limit }: { chainId: number; after: [number, number, string] | undefined; limit: number },
): Promise<ContractRow[]> {
  return sql<ContractRow[]>`
    with page as (
      select
        contract.contract_address,
        contract.contract_type,
        contract.block_number,
        contract.log_index
      from contract
      where
        ${isShown(sql, { chainId, contractAddress: "contract.contract_address" })}
        ${
          after
            ? sql`
              and (contract.block_number, contract.log_index, contract.contract_address)
                > (${after[0]}, ${after[1]}, ${toBytes(after[2])})
            `
            : sql``
        }
      order by
        contract.block_number,
        contract.log_index,
        contract.contract_address
      limit ${limit}
    )
    select
      ${contractColumns(sql)},
      contract.block_number,
      contract.log_index
    from page as contract
    ${sql.unsafe(joinContractMetadataText({ chainId: String(chainId), page: "contract" }))}
    order by
      contract.block_number,
      contract.log_index,
      contract.contract_address
  `;
}

/** A contract as JSON, without the columns of its place in a list. */
export function contractJson({ contract_address, contract_type, name, symbol, image }: Contract): string {
  return JSON.stringify({ contract_address, contract_type, name, symbol, image });
}
