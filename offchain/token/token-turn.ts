import type { TransactionSql } from "postgres";

/**
 * Parts of a `with` that give the tokens of `unplaced` (contract_address, token_id and whatever else) their turns:
 * `placed` is the same with their `turn`, so that nobody has to join both. A planner that expects few rows would compare
 * each with each. Turns interleave contracts: those of a contract follow its last turn, but begin no earlier than the
 * head of the queue, so that a new contract doesn't come before all that wait.
 */
export function placeTokens(sql: TransactionSql, chainId: number) {
  return sql`
    numbered as materialized (
      select
        unplaced.*,
        row_number() over (partition by contract_address order by token_id) as place
      from unplaced
    ),
    -- If no token waits, the head is the last turn given. From 0, a contract with many past turns would wait for all
    -- others.
    head as materialized (
      select coalesce(
        (
          select turn
          from offchain.token_metadata
          where
            chain_id = ${chainId}
            and turn > 0
          order by turn
          limit 1
        ),
        (select max(last_turn) from offchain.contract_metadata where chain_id = ${chainId}),
        0
      ) as turn
    ),
    advanced as (
      insert into offchain.contract_metadata (chain_id, contract_address, due_at, uri_due_at, last_turn)
      select ${chainId}::bigint, numbered.contract_address, now(), now(), head.turn + max(numbered.place)
      from numbered
      cross join head
      group by numbered.contract_address, head.turn
      order by numbered.contract_address
      on conflict (chain_id, contract_address) do update set
        last_turn = greatest(contract_metadata.last_turn, (select turn from head))
          + excluded.last_turn - (select turn from head)
      returning contract_address, last_turn
    ),
    -- Materialized, because a planner that doesn't know how few rows these are reads all tokens of a contract for each.
    placed as materialized (
      select
        numbered.*,
        advanced.last_turn - max(numbered.place) over (partition by contract_address) + numbered.place as turn
      from numbered
      join advanced using (contract_address)
    )
  `;
}

/**
 * Parts of a `with` that make the tokens of `asked` (contract_address, token_id, turn) due. The tokens must be locked.
 * Those that have a turn already keep it. `isUpdate`: their contract has logged a change.
 */
export function makeTokensDue(sql: TransactionSql, { chainId, isUpdate }: { chainId: number; isUpdate: boolean }) {
  return sql`
    unplaced as (
      select contract_address, token_id
      from asked
      where turn is null
    ),
    ${placeTokens(sql, chainId)},
    marked as (
      update offchain.token_metadata m
      set
        turn = placed.turn,
        due_at = now(),
        attempts = 0,
        awaiting_metadata_update = true,
        is_update_unseen = m.is_update_unseen or ${isUpdate}
      from placed
      where
        m.chain_id = ${chainId}
        and m.contract_address = placed.contract_address
        and m.token_id = placed.token_id
    ),
    -- For tokens with a turn already: a node that lags may still be asked when it comes.
    noted as (
      update offchain.token_metadata m
      set is_update_unseen = true
      from asked
      where
        ${isUpdate}
        and asked.turn is not null
        and m.chain_id = ${chainId}
        and m.contract_address = asked.contract_address
        and m.token_id = asked.token_id
        and not m.is_update_unseen
    )
  `;
}
