import type { TransactionSql } from "postgres";
import type { IndexedNetwork } from "../network.ts";
import { eventHash } from "../event-hash.ts";
import { placeTokens } from "./token-turn.ts";

/** Blocks whose events are looked at: those above `from`, up to `to`. */
export type Blocks = { from: number; to: number };

const FIRST_MINT = { timestamp: "t.mint_timestamp", transactionHash: "t.mint_transaction_hash" };
const LAST_MINT = {
  timestamp: `coalesce(last_mint.timestamp, ${FIRST_MINT.timestamp})`,
  transactionHash: `coalesce(last_mint.transaction_hash, ${FIRST_MINT.transactionHash})`,
};

/** A row of the counters for which nobody waits who has locked tokens. */
const ENQUEUE_SLOT = -1;

/**
 * CTE `seen` of the tokens with events in these blocks, each with the first of these and whether it was minted. They are
 * read in the order of the index on blocks, because a planner that doesn't know how far they reach may take another
 * index, and go through all events of the chain.
 */
const seenIn = (tx: TransactionSql, { network, from, to }: Blocks & { network: string }) => tx`
  seen as materialized (
    select
      contract_address,
      token_id,
      min(block_number) as block_number,
      bool_or(event_type = 'mint') as is_minted
    from (
      select contract_address, token_id, block_number, event_type
      from ${tx(`onchain_${network}`)}.token_event
      where
        block_number > ${from}
        and block_number <= ${to}
      order by token_event.block_number, token_event.log_index, token_event.batch_index
    ) event
    group by contract_address, token_id
  )
`;

/**
 * Gives a turn to each token of these blocks that is unknown, or was minted anew. A token that came with one of them is
 * looked at also where a reorg took its event: its last mint may be an older one again.
 */
export async function addTokens(
  tx: TransactionSql,
  { network, chain_id, finalized_block }: IndexedNetwork,
  { from, to }: Blocks,
): Promise<void> {
  const onchain = tx(`onchain_${network}`);
  await tx`
    with ${seenIn(tx, { network, from, to })},
    found as materialized (
      select
        contract_address,
        token_id,
        min(block_number) as block_number,
        bool_or(is_minted) as is_minted
      from (
        select contract_address, token_id, block_number, is_minted
        from seen
        union all
        select u.contract_address, u.token_id, u.block_number, true
        from offchain.unsettled_token u
        cross join lateral (
          select
          from ${onchain}.token t
          where
            t.contract_address = u.contract_address
            and t.token_id = u.token_id
          limit 1
        ) indexed
        where
          u.chain_id = ${chain_id}
          and u.block_number > ${from}
          and u.block_number <= ${to}
      ) any_token
      group by contract_address, token_id
    ),
    unplaced as materialized (
      select found.contract_address, found.token_id, found.block_number, minted.hash
      from found
      left join lateral (
        select
          mint.hash,
          -- Where none was noted, it came by the first one as far as is known.
          mint.first_hash,
          case when t.standard <> 'ERC721' or found.is_minted then mint.hash end as told_hash
        from ${onchain}.token t
        -- An ERC-721 token that was burned may be minted anew, as another one; of an ERC-1155 token each mint brings more
        -- of the same. Looked for only where there is a mint: the token may have moved a million times since.
        left join lateral (
          select e.timestamp, e.transaction_hash
          from ${onchain}.token_event e
          where
            t.standard = 'ERC721'
            and found.is_minted
            and e.contract_address = found.contract_address
            and e.token_id = found.token_id
            and e.event_type = 'mint'
          order by e.block_number desc, e.log_index desc, e.batch_index desc
          limit 1
        ) last_mint on true
        cross join lateral (
          select
            ${eventHash(tx, FIRST_MINT)} as first_hash,
            ${eventHash(tx, LAST_MINT)} as hash
        ) mint
        where
          t.contract_address = found.contract_address
          and t.token_id = found.token_id
          and t.mint_transaction_hash is not null
      ) minted on true
      -- "limit 1" instead of "exists", for which a planner that expects many events reads the whole table.
      where (
        select true
        from offchain.token_metadata m
        where
          m.chain_id = ${chain_id}
          and m.contract_address = found.contract_address
          and m.token_id = found.token_id
          and (coalesce(m.mint_hash, minted.first_hash) = minted.told_hash) is not false
        limit 1
      ) is not true
    ),
    ${placeTokens(tx, chain_id)},
    added as (
      insert into offchain.token_metadata as m (chain_id, contract_address, token_id, turn, due_at, counted_as, mint_hash)
      select ${chain_id}, contract_address, token_id, turn, now(), 'new', hash
      from placed
      on conflict (chain_id, contract_address, token_id) do update set
        turn = coalesce(m.turn, excluded.turn),
        due_at = now(),
        attempts = 0,
        awaiting_metadata_update = true,
        is_update_unseen = true,
        mint_hash = excluded.mint_hash
      -- For a row that was there before, xmax is this transaction.
      returning m.xmax = 0 as is_new
    ),
    unsettled as (
      insert into offchain.unsettled_token (chain_id, block_number, contract_address, token_id)
      select ${chain_id}, block_number, contract_address, token_id
      from unplaced
      where block_number > ${finalized_block}
      on conflict do nothing
    )
    insert into offchain.metadata_count (chain_id, slot, tokens)
    select ${chain_id}, ${ENQUEUE_SLOT}, count(*) filter (where is_new) from added
    on conflict (chain_id, slot) do update set tokens = metadata_count.tokens + excluded.tokens
  `;
}

/** Makes tokens due whose URI reverted, and which moved in these blocks. */
export async function retryReverted(
  tx: TransactionSql,
  { network, chain_id }: IndexedNetwork,
  { from, to }: Blocks,
): Promise<void> {
  await tx`
    with ${seenIn(tx, { network, from, to })},
    reverted as materialized (
      select m.contract_address, m.token_id, moved.is_minted
      from (
        select contract_address, token_id, is_minted
        from seen
        order by contract_address, token_id
      ) moved
      cross join lateral (
        select m.contract_address, m.token_id
        from offchain.token_metadata m
        where
          m.chain_id = ${chain_id}
          and m.contract_address = moved.contract_address
          and m.token_id = moved.token_id
          and m.error_code = 'revert'
          -- Minted anew it isn't the token that reverted, unless it is being read at this moment.
          and (m.due_at is null or moved.is_minted and m.turn is null and m.stored_claim = m.claim)
        for update of m
      ) m
    )
    update offchain.token_metadata m
    set
      due_at = now(),
      -- Our node may be a block behind the indexer's.
      attempts = case when reverted.is_minted then 0 else m.attempts end,
      awaiting_metadata_update = m.awaiting_metadata_update or reverted.is_minted
    from reverted
    where
      m.chain_id = ${chain_id}
      and m.contract_address = reverted.contract_address
      and m.token_id = reverted.token_id
  `;
}
