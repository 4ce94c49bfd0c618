import type { Sql } from "postgres";
import { type Hex, zeroAddress } from "viem";
import { toBytea } from "../bytea.ts";
import { CLAIM_SECONDS } from "../claim.ts";
import { contractPauseSeconds, SECOND_LOOK_SECONDS } from "../retry.ts";
import type { ContractReading } from "./contract-reading.ts";

/**
 * A contract that answers nothing may not exist yet for a node that lags, and one that the index lacks may be back in
 * seconds, once the indexer has started again: both are asked so many times.
 */
const MAX_VAIN_ATTEMPTS = 4;

/** A contract that was claimed. */
export type DueContract = {
  contract_address: Hex;
  /** The end of the lease, to the microsecond. It identifies a claim. */
  due_at: string;
  attempts: number;
  is_indexed: boolean;
  /** Its first log was an ERC-721 event. Fungible tokens may write such events, too. */
  is_erc721: boolean;
  is_first_generation: boolean;
  /** The last of its tokens that has a holder, to ask for its owner. 0 where there is none. */
  token_id: string;
};

/** Claims up to `limit` contracts whose names are due, oldest first. A contract whose worker died becomes due again. */
export async function claimDueContracts(
  sql: Sql,
  { network, chainId, limit }: { network: string; chainId: number; limit: number },
): Promise<DueContract[]> {
  const onchain = sql(`onchain_${network}`);
  return sql<DueContract[]>`
    with due as materialized (
      select chain_id, contract_address
      from offchain.contract_metadata
      where
        chain_id = ${chainId}
        and due_at <= now()
      order by due_at
      limit ${limit}
      for update skip locked
    ),
    claimed as (
      update offchain.contract_metadata m
      set
        due_at = now() + ${CLAIM_SECONDS.contract} * interval '1 second',
        attempts = m.attempts + 1
      from due
      where (m.chain_id, m.contract_address) = (due.chain_id, due.contract_address)
      returning m.contract_address, m.due_at::text, m.attempts
    )
    select
      '0x' || encode(claimed.contract_address, 'hex') as contract_address,
      claimed.due_at,
      claimed.attempts,
      contract.contract_address is not null as is_indexed,
      coalesce(contract.contract_type = 'ERC721', false) as is_erc721,
      coalesce(contract.is_first_generation, false) as is_first_generation,
      coalesce(
        (
          select token.token_id
          from ${onchain}.token
          where
            token.contract_address = claimed.contract_address
            and token.owner <> decode(${zeroAddress.slice(2)}, 'hex')
          order by
            token.contract_address desc,
            token.token_id desc
          limit 1
        ),
        0
      ) as token_id
    from claimed
    left join ${onchain}.contract using (contract_address)
  `;
}

/**
 * Stores what was read. Faults are tried again for ever, with growing pauses. A contract's answers are final until it
 * logs a change, unless it answers nothing at all, as a node that lags may not have it yet, or the index lacks it. After a
 * change they are read twice, because such a node says what was before. Where nothing was asked, that counts as no
 * attempt.
 */
export async function storeContracts(
  sql: Sql,
  { chainId, contracts, readings }: { chainId: number; contracts: DueContract[]; readings: ContractReading[] },
): Promise<void> {
  const rows = contracts.map(({ contract_address, due_at, attempts, is_indexed }, i) => {
    const { name, symbol, erc165_type, is_fungible, isFault, isSilent, againSeconds } = readings[i]!;
    const isDueAgain = isFault || ((isSilent || !is_indexed) && attempts < MAX_VAIN_ATTEMPTS);
    return {
      contract_address: toBytea(contract_address),
      lease: due_at,
      name,
      symbol,
      erc165_type,
      is_type_read: erc165_type !== undefined,
      is_fungible,
      error_code: isFault ? "rpc" : isSilent ? "silent" : null,
      is_asked: againSeconds === undefined,
      due_in: againSeconds ?? (isDueAgain ? contractPauseSeconds(attempts) : null),
    };
  });
  // Everybody locks contracts in this order.
  rows.sort((a, b) => (a.contract_address < b.contract_address ? -1 : 1));
  await sql`
    update offchain.contract_metadata m
    set
      name = coalesce(nullif(row.name, ''), m.name),
      is_name_of_uri = m.is_name_of_uri and coalesce(row.name, '') = '',
      symbol = coalesce(nullif(row.symbol, ''), m.symbol),
      erc165_type = case when row.is_type_read then row.erc165_type else m.erc165_type end,
      is_fungible = coalesce(row.is_fungible, m.is_fungible),
      error_code = case when row.is_asked then row.error_code else m.error_code end,
      -- Another due time than this claim's lease: it was asked for again meanwhile.
      due_at = case
        when m.due_at is distinct from row.lease then m.due_at
        -- Whatever it says: most updates leave the name as it is.
        when row.due_in is null and m.is_update_unseen then now() + ${SECOND_LOOK_SECONDS} * interval '1 second'
        else now() + row.due_in * interval '1 second'
      end,
      is_update_unseen = m.is_update_unseen and (m.due_at is distinct from row.lease or row.due_in is not null),
      attempts = case
        when row.due_in is null then 0
        when not row.is_asked then greatest(m.attempts - 1, 0)
        else m.attempts
      end,
      updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row (
      contract_address bytea,
      lease timestamptz,
      name text,
      symbol text,
      erc165_type text,
      is_type_read boolean,
      is_fungible boolean,
      error_code text,
      is_asked boolean,
      due_in double precision
    )
    where
      m.chain_id = ${chainId}
      and m.contract_address = row.contract_address
  `;
}
