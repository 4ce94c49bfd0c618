import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { isShown } from "./contract.ts";
import { HttpError, unknownToken } from "../http/errors.ts";
import { eventHash } from "../../offchain/event-hash.ts";

/**
 * Seconds until a token's metadata may be asked for again, as `requestRefresh` decides it. `secondsAgo`: how long ago it
 * was asked for, by the clock of the database; null where it wasn't.
 */
export function refreshWaitSeconds(
  secondsAgo: number | null,
  { cooldownSeconds }: { cooldownSeconds: number },
): number {
  // The clock was set back since.
  if (secondsAgo === null || secondsAgo < -cooldownSeconds) return 0;
  // A transaction that began before that of the last request may compute a longer wait than the whole period.
  return Math.min(Math.max(0, cooldownSeconds - secondsAgo), cooldownSeconds);
}

/**
 * Asks the worker to fetch a token's metadata again.
 *
 * @throws HttpError 404 for an unknown token, 429 within `cooldownSeconds` of the last request
 */
export async function requestRefresh(
  sql: Sql,
  {
    chainId,
    contractAddress,
    tokenId,
    cooldownSeconds,
  }: { chainId: number; contractAddress: string; tokenId: string; cooldownSeconds: number },
): Promise<void> {
  const address = toBytes(contractAddress);
  const [answer] = await sql<{ is_known: boolean; is_queued: boolean; seconds_ago: number | null }[]>`
    with known as materialized (
      select
        token.contract_address,
        token.token_id,
        -- As the worker notes it, which sees by it that a reorg has minted the token anew.
        case
          when token.mint_transaction_hash is not null
            then ${eventHash(sql, { timestamp: "token.mint_timestamp", transactionHash: "token.mint_transaction_hash" })}
        end as mint_hash
      from token
      where
        token.contract_address = ${address}
        and token.token_id = ${tokenId}
        and ${isShown(sql, { chainId, contractAddress: "token.contract_address" })}
    ),
    before as materialized (
      select token_metadata.refresh_requested_at
      from token_metadata
      where
        token_metadata.chain_id = ${chainId}
        and token_metadata.contract_address = ${address}
        and token_metadata.token_id = ${tokenId}
    ),
    queued as (
      insert into token_metadata (
        chain_id,
        contract_address,
        token_id,
        awaiting_metadata_update,
        refresh_requested_at,
        mint_hash
      )
      select
        ${chainId}::bigint,
        known.contract_address,
        known.token_id,
        true,
        now(),
        known.mint_hash
      from known
      on conflict (chain_id, contract_address, token_id) do update
      set
        awaiting_metadata_update = true,
        refresh_requested_at = now()
      where
        token_metadata.refresh_requested_at is null
        or token_metadata.refresh_requested_at <= now() - ${cooldownSeconds} * interval '1 second'
        -- The clock was set back since.
        or token_metadata.refresh_requested_at > now() + ${cooldownSeconds} * interval '1 second'
      -- For a row that was there before, xmax is this transaction.
      returning token_metadata.contract_address, token_metadata.token_id, token_metadata.xmax = 0 as is_new
    ),
    -- A token that the worker hasn't met, which goes with a reorg.
    unsettled as (
      insert into unsettled_token (chain_id, block_number, contract_address, token_id)
      select network.chain_id, network.indexed_block, queued.contract_address, queued.token_id
      from queued
      join network on network.chain_id = ${chainId}
      where queued.is_new
      on conflict do nothing
    )
    select
      exists (select from known) as is_known,
      exists (select from queued) as is_queued,
      (
        select extract(epoch from now() - before.refresh_requested_at)::float8
        from before
      ) as seconds_ago
  `;
  if (!answer?.is_known) throw unknownToken(contractAddress, tokenId);
  if (answer.is_queued) return;
  // Of two simultaneous requests, the second sees the row from before the first: then it waits the whole period.
  const wait = refreshWaitSeconds(answer.seconds_ago, { cooldownSeconds }) || cooldownSeconds;
  const seconds = Math.max(1, Math.ceil(wait));
  throw new HttpError(
    429,
    `Metadata of this token was asked for less than ${cooldownSeconds} seconds ago. Expected the next request in ${seconds} seconds.`,
    { "retry-after": String(seconds) },
  );
}
