import type { Sql } from "postgres";
import { decodeFunctionData, encodeAbiParameters, type Hex, padHex } from "viem";
import { toBytes } from "../offchain/bytea.ts";
import { allowanceAbi, contractAbi } from "../abis/contract.ts";
import type { Call, CallAnswer, ReadCalls } from "../offchain/chain/call.ts";
import type { IndexedNetwork } from "../offchain/network.ts";
import { FINALITY } from "./finality.ts";

/** The chain of all tokens here. */
export const CHAIN_ID = 31_337;
/** An address that is easy to read in a failing test. */
export function address(number: number): Hex {
  return padHex(`0x${number.toString(16)}`, { size: 20 });
}

/** A contract as a function: what it returns for a call of `functionName`, undefined for a revert. */
export type FakeContract = (functionName: string, args: readonly unknown[]) => string | undefined;

/** Reads of contracts that are functions of this program: quick, and able to do what no node would. */
export function createFakeCalls(contracts: Record<Hex, FakeContract>): ReadCalls {
  return async (calls: Call[]) =>
    calls.map(({ to, data }): CallAnswer => {
      const { functionName, ...call } = decodeFunctionData({ abi: [...contractAbi, ...allowanceAbi], data });
      // Without arguments there is no list of them, whatever its type says.
      const text = contracts[to]?.(functionName, (call as { args?: readonly unknown[] }).args ?? []);
      if (text === undefined) return { kind: "none" };
      return { kind: "data", data: toBytes(encodeAbiParameters([{ type: "string" }], [text])) };
    });
}

/** The network as the indexer reports it. */
export function indexedTo(block: number, deployment = "a", genesisHash = "0x01"): IndexedNetwork {
  const blocks = { indexed_block: block, head_block: block, finalized_block: block - FINALITY };
  const found = { deployment, is_published: false, genesis_hash: genesisHash };
  return { network: "mainnet", chain_id: CHAIN_ID, ...blocks, ...found };
}

/** Mints as the indexer writes them: contract, tokens and events. */
export async function mint(
  sql: Sql,
  {
    contract,
    tokens,
    block,
    standard = "ERC721",
  }: { contract: Hex; tokens: (bigint | number)[]; block: number; standard?: string },
): Promise<void> {
  const bytes = toBytes(contract);
  const ids = tokens.map(String);
  await sql`
    insert into onchain_mainnet.contract (contract_address, contract_type, is_first_generation, block_number, log_index)
    values (${bytes}, ${standard}, false, ${block}, 0)
    on conflict do nothing
  `;
  await sql`
    insert into onchain_mainnet.token (contract_address, token_id, standard)
    select ${bytes}, id, ${standard}
    from unnest(${ids}::text[]::numeric[]) as id
    on conflict do nothing
  `;
  await sql`
    insert into onchain_mainnet.token_event
      (block_number, log_index, batch_index, timestamp, event_type, contract_address, token_id, from_address, to_address, quantity, transaction_hash)
    select
      ${block},
      coalesce((select max(log_index) + 1 from onchain_mainnet.token_event where block_number = ${block}), 0),
      place - 1,
      0,
      'mint',
      ${bytes},
      id,
      '\\x00',
      '\\x01',
      1,
      '\\x02'
    from unnest(${ids}::text[]::numeric[]) with ordinality as ids (id, place)
  `;
}
