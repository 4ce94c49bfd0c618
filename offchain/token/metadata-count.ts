import type { TransactionSql } from "postgres";
import type { ClaimedToken, Counted } from "./token-queue.ts";

/** The counters are spread over so many rows, so that workers don't wait for each other. */
const SLOTS = 16;

type State = { state: Counted; code: string | null; host: string | null };

/**
 * What the counters have for a token, and what they are to have. Null where the token didn't exist before, or is
 * deleted.
 */
export type CountChange = { before: State | null; after: State | null };

type Totals = { tokens: number; fetched: number; failing: number };
type Failing = { code: string; host: string; tokens: number };

/** Updates the counters in the transaction that changes the tokens, so that they are exact without ever counting. */
export async function countChanges(
  tx: TransactionSql,
  { chainId, changes }: { chainId: number; changes: CountChange[] },
): Promise<void> {
  const { totals, failures } = sumOf(changes);
  if (failures.length > 0) await addFailures(tx, { chainId, failures });
  if (Object.values(totals).some((total) => total !== 0)) await addTotals(tx, { chainId, totals });
}

/** By how much the counters change, those of failures in the order in which they are locked. */
function sumOf(changes: CountChange[]): { totals: Totals; failures: Failing[] } {
  const totals = { tokens: 0, fetched: 0, failing: 0 };
  const failures = new Map<string, Failing>();
  const add = ({ state, code, host }: State, amount: number) => {
    totals.tokens += amount;
    totals.fetched += isFetched(state) ? amount : 0;
    totals.failing += state === "failing" ? amount : 0;
    if (!isFailing(state) || code === null) return;
    const key = `${code} ${host ?? ""}`;
    const entry = failures.get(key) ?? { code, host: host ?? "", tokens: 0 };
    failures.set(key, { ...entry, tokens: entry.tokens + amount });
  };
  for (const { before, after } of changes) {
    if (before) add(before, -1);
    if (after) add(after, 1);
  }
  // Everybody locks rows in this order, because otherwise workers could wait for each other for ever.
  const ordered = [...failures.values()]
    .filter(({ tokens }) => tokens !== 0)
    .toSorted((a, b) => (a.code + a.host < b.code + b.host ? -1 : 1));
  return { totals, failures: ordered };
}

async function addFailures(
  tx: TransactionSql,
  { chainId, failures }: { chainId: number; failures: Failing[] },
): Promise<void> {
  await tx`
    insert into offchain.metadata_failure (chain_id, code, host, tokens)
    select ${chainId}, *
    from unnest(
      ${failures.map(({ code }) => code)}::text[],
      ${failures.map(({ host }) => host)}::text[],
      ${failures.map(({ tokens }) => tokens)}::bigint[]
    )
    on conflict (chain_id, code, host) do update set tokens = metadata_failure.tokens + excluded.tokens
  `;
  // Only rows that we have locked already: others may be locked by somebody who waits for these.
  const emptied = failures.filter(({ tokens }) => tokens < 0);
  if (emptied.length === 0) return;
  await tx`
    delete from offchain.metadata_failure
    using unnest(
      ${emptied.map(({ code }) => code)}::text[],
      ${emptied.map(({ host }) => host)}::text[]
    ) as row (code, host)
    where
      chain_id = ${chainId}
      and metadata_failure.code = row.code
      and metadata_failure.host = row.host
      and tokens = 0
  `;
}

async function addTotals(tx: TransactionSql, { chainId, totals }: { chainId: number; totals: Totals }): Promise<void> {
  await tx`
    insert into offchain.metadata_count (chain_id, slot, tokens, fetched, failing)
    values (
      ${chainId},
      pg_backend_pid() % ${SLOTS},
      ${totals.tokens},
      ${totals.fetched},
      ${totals.failing}
    )
    on conflict (chain_id, slot) do update set
      tokens = metadata_count.tokens + excluded.tokens,
      fetched = metadata_count.fetched + excluded.fetched,
      failing = metadata_count.failing + excluded.failing
  `;
}

/** What a token's row says of the counter that has it. `counted_as` is null where none has it. */
export type CountedRow = Pick<ClaimedToken, "counted_as" | "error_code" | "error_host">;

/** Takes tokens out of the counters, in the transaction that deletes or drops them. */
export async function countOut(
  tx: TransactionSql,
  { chainId, tokens }: { chainId: number; tokens: CountedRow[] },
): Promise<void> {
  await countChanges(tx, {
    chainId,
    changes: tokens.flatMap(({ counted_as, error_code, error_host }) =>
      counted_as === null ? [] : { before: { state: counted_as, code: error_code, host: error_host }, after: null },
    ),
  });
}

function isFetched(state: Counted): boolean {
  return state === "fetched" || state === "stale";
}

/** Whether the last attempt failed, also where there is a document from before. */
function isFailing(state: Counted): boolean {
  return state === "failing" || state === "stale";
}
