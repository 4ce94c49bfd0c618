import type { SkipReason } from "./limits.ts";
import {
  applyMovement,
  holdersOf,
  type LogPlace,
  type Movement,
  type OwnershipRow,
  type TokenRow,
} from "./movement.ts";
import type { Hop } from "./sale.ts";
import type { Store } from "./store.ts";

/** `recordHops` gets the movements that were recorded. */
type Rows = { store: Store; recordHops: (place: LogPlace, hops: readonly Hop[]) => Promise<void> };

/** Writes what all movements of one log do to the rows, or notes why the log is left out. */
export async function recordLog(
  { store, recordHops }: Rows,
  place: LogPlace,
  movements: Movement[] | SkipReason,
  { isFirstGeneration = false }: { isFirstGeneration?: boolean } = {},
): Promise<void> {
  if (typeof movements === "string") return skipLog(store, place, movements);
  if (movements.length > 1) await store.load(movements);
  const recorded: Movement[] = [];
  let skipped: SkipReason | undefined;
  let isKnown = false;
  for (const movement of movements) {
    const before = await recordMovement(store, movement);
    if (typeof before === "string") skipped = before;
    else {
      // Only the first movement tells: a batch may name the same new token twice.
      if (recorded.length === 0) isKnown = before !== null;
      recorded.push(movement);
    }
  }
  if (skipped) await skipLog(store, place, skipped);
  const [first] = recorded;
  if (!first) return;
  await recordHops(place, recorded);
  const key = { contract_address: place.contractAddress };
  // A known token has a known contract, which saves most logs a look-up.
  if (isKnown || (await store.find("contract", key))) return;
  await store.insert("contract", {
    ...key,
    contract_type: first.standard,
    is_first_generation: isFirstGeneration,
    block_number: place.blockNumber,
    log_index: place.logIndex,
  });
}

/** Writes one movement. Returns the token's row from before it, null where the token is new, or why it is left out. */
async function recordMovement(store: Store, movement: Movement): Promise<TokenRow | null | SkipReason> {
  const key = { contract_address: movement.contractAddress, token_id: movement.tokenId };
  const holders = holdersOf(movement);
  const before = await store.find("token", key);
  const sender = holders.sender ? await store.find("ownership", { ...key, owner: holders.sender }) : null;
  const receiver = holders.receiver ? await store.find("ownership", { ...key, owner: holders.receiver }) : null;

  const after = applyMovement({ token: before, sender, receiver }, movement);
  if (typeof after === "string") return after;

  await store.insert("tokenEvent", after.event);
  if (after.token) await writeToken(store, before, after.token);
  if (after.sender) await writeOwnership(store, sender, after.sender);
  if (after.receiver) await writeOwnership(store, receiver, after.receiver);
  return before;
}

/** Writes only the columns that can have changed, because Ponder processes every value that it is given. */
async function writeToken(store: Store, before: TokenRow | null, after: TokenRow) {
  const { contract_address, token_id, owner } = after;
  if (!before) return store.insert("token", after);
  const isMinted = before.mint_address !== after.mint_address;
  return store.update("token", { contract_address, token_id }, isMinted ? after : { owner });
}

async function writeOwnership(store: Store, before: OwnershipRow | null, after: OwnershipRow) {
  if (!before) return store.insert("ownership", after);
  const { contract_address, token_id, owner, ...changes } = after;
  return store.update("ownership", { contract_address, token_id, owner }, changes);
}

async function skipLog(store: Store, place: LogPlace, reason: SkipReason): Promise<void> {
  await store.insert("skippedLog", {
    block_number: place.blockNumber,
    log_index: place.logIndex,
    contract_address: place.contractAddress,
    reason,
  });
}
