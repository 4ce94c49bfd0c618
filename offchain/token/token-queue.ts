import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";
import { CLAIM_SECONDS } from "../claim.ts";

/** The counter that has a token: "failing" without a document, or "stale" with an older one. */
export type Counted = "new" | "fetched" | "failing" | "stale";

/** A token that this worker is to fetch. */
export type ClaimedToken = {
  contract_address: Hex;
  token_id: string;
  /** The number of this claim. Later claims have higher numbers. */
  claim: number;
  /** How many claims there were since the last success, this one included. */
  attempts: number;
  /** Whether it has a document with something in it. */
  is_fetched: boolean;
  counted_as: Counted | null;
  error_code: string | null;
  error_host: string | null;
  standard: string | null;
  uri_function: string | null;
  id_form: string | null;
};

/**
 * Claims tokens: up to `ready` whose turn it is, and up to `due` whose pause is over. Refresh requests have the first
 * turns, and those that had to wait for their host come before all others. A token whose worker died becomes due again
 * when its lease ends.
 */
export async function claimTokens(
  sql: Sql,
  { network, chainId, ready, due }: { network: string; chainId: number; ready: number; due: number },
): Promise<ClaimedToken[]> {
  return sql<ClaimedToken[]>`
    with postponed as materialized (
      select ctid
      from offchain.token_metadata
      where
        chain_id = ${chainId}
        and turn is null
        and refresh_requested_at is not null
        and awaiting_metadata_update
        and due_at <= now()
      order by due_at
      limit ${ready}
      for update skip locked
    ),
    ready as materialized (
      select ctid
      from offchain.token_metadata
      where
        chain_id = ${chainId}
        and turn is not null
      order by turn
      limit ${ready}
      for update skip locked
    ),
    due as materialized (
      select ctid
      from offchain.token_metadata
      where
        chain_id = ${chainId}
        and turn is null
        and due_at <= now()
      order by due_at
      limit ${due}
      for update skip locked
    ),
    claimed as (
      update offchain.token_metadata m
      set
        turn = null,
        due_at = now() + ${CLAIM_SECONDS.token} * interval '1 second',
        claim = m.claim + 1,
        attempts = m.attempts + 1,
        attempted_at = now()
      -- By ctid, which is safe because locked rows don't move. By key, a planner that doesn't know how few rows these
      -- are sometimes reads the whole table, which took half of the time of a claim.
      where
        m.ctid = any (
          array(
            select ctid from postponed
            union all
            select ctid from ready
            union all
            select ctid from due
          )
        )
      returning
        m.contract_address,
        m.token_id,
        m.claim,
        m.attempts,
        m.normalized is not null and not m.is_blank as is_fetched,
        m.counted_as,
        m.error_code,
        m.error_host
    )
    select
      '0x' || encode(claimed.contract_address, 'hex') as contract_address,
      claimed.token_id,
      claimed.claim,
      claimed.attempts,
      claimed.is_fetched,
      claimed.counted_as,
      claimed.error_code,
      claimed.error_host,
      token.standard,
      contract_metadata.uri_function,
      contract_metadata.id_form
    from claimed
    left join ${sql(`onchain_${network}`)}.token
      on token.contract_address = claimed.contract_address
      and token.token_id = claimed.token_id
    left join offchain.contract_metadata
      on contract_metadata.chain_id = ${chainId}
      and contract_metadata.contract_address = claimed.contract_address
  `;
}

/**
 * The counter that has a token now, and what depends on it. Undefined where the token is gone (also where another
 * chain's token with the same id took its place), or where a later claim was stored already.
 */
export async function readCounted(
  sql: Sql,
  { chainId, token }: { chainId: number; token: Claim },
): Promise<CountedToken | undefined> {
  const [row] = await sql<CountedToken[]>`
    select
      normalized is not null and not is_blank as is_fetched,
      counted_as,
      error_code,
      error_host
    from offchain.token_metadata
    where
      chain_id = ${chainId}
      and contract_address = ${toBytea(token.contract_address)}::text::bytea
      and token_id = ${token.token_id}::numeric
      and stored_claim < ${token.claim}
      and claim >= ${token.claim}
  `;
  return row;
}
type CountedToken = Pick<ClaimedToken, "is_fetched" | "counted_as" | "error_code" | "error_host">;

/** Extends the leases of claims. Leaves out those that have an outcome, and those that a later claim has taken over. */
export async function renewClaims(sql: Sql, { chainId, tokens }: { chainId: number; tokens: Claim[] }): Promise<void> {
  if (tokens.length === 0) return;
  await sql`
    update offchain.token_metadata m
    set due_at = now() + ${CLAIM_SECONDS.token} * interval '1 second'
    from ${keysOf(sql, tokens)}
    where ${isHeld(sql, chainId)}
  `;
}

/**
 * Gives claims back untried, each to be due after its seconds. `host`: the host that they wait for, noted where the
 * token has no earlier failure.
 */
export async function releaseClaims(
  sql: Sql,
  { chainId, tokens }: { chainId: number; tokens: (Claim & { seconds: number; host?: string })[] },
): Promise<void> {
  if (tokens.length === 0) return;
  await sql`
    update offchain.token_metadata m
    set
      due_at = now() + key.seconds * interval '1 second',
      attempts = greatest(m.attempts - 1, 0),
      error_host = case when m.error_code is null then nullif(key.host, '') else m.error_host end,
      error_message = case
        when m.error_code is not null then m.error_message
        when key.host <> '' then 'Not tried: its host is busy or left alone for a while.'
      end
    from ${keysOf(sql, tokens)}
    where ${isHeld(sql, chainId)}
  `;
}

/** That `m` is the token of `key`, whose claim has no outcome yet and wasn't taken over by a later one. */
const isHeld = (sql: Sql, chainId: number) => sql`
  m.chain_id = ${chainId}
  and m.contract_address = key.contract_address
  and m.token_id = key.token_id
  and m.claim = key.claim
  and m.stored_claim < m.claim
  and m.turn is null
`;

/** A token: its contract in 0x hex, and its id in decimal. */
export type TokenKey = { contract_address: Hex; token_id: string };
type Claim = TokenKey & Pick<ClaimedToken, "claim">;

/** The order in which several tokens are locked: that of their key. */
export function compareTokens(a: TokenKey, b: TokenKey): number {
  if (a.contract_address !== b.contract_address) return a.contract_address < b.contract_address ? -1 : 1;
  if (a.token_id.length !== b.token_id.length) return a.token_id.length - b.token_id.length;
  return a.token_id < b.token_id ? -1 : 1;
}

function keysOf(sql: Sql, unsorted: (Claim & { seconds?: number; host?: string })[]) {
  const tokens = unsorted.toSorted(compareTokens);
  return sql`
    unnest(
      ${tokens.map(({ contract_address }) => toBytea(contract_address))}::text[]::bytea[],
      ${tokens.map(({ token_id }) => token_id)}::text[]::numeric[],
      ${tokens.map(({ claim }) => claim)}::integer[],
      ${tokens.map(({ seconds = 0 }) => seconds)}::float8[],
      ${tokens.map(({ host = "" }) => host)}::text[]
    ) as key (contract_address, token_id, claim, seconds, host)
  `;
}
