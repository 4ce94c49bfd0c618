import type { Context } from "ponder:registry";
import { contract, ownership, skippedLog, token, tokenEvent } from "ponder:schema";
import type { Hex } from "viem";
import type { SkipReason } from "./limits.ts";
import {
  applyMovement,
  holdersOf,
  type LogPlace,
  type Movement,
  type OwnershipRow,
  type TokenRow,
} from "./movement.ts";
import { recordHops } from "./record-sale.ts";

/** What Ponder says of a log's place, in the core's words. */
export function placeOf(event: {
  block: { number: bigint; timestamp: bigint; hash: Hex };
  log: { address: Hex; logIndex: number };
  transaction: { hash: Hex };
}): LogPlace {
  return {
    contractAddress: event.log.address,
    blockNumber: Number(event.block.number),
    logIndex: event.log.logIndex,
    timestamp: Number(event.block.timestamp),
    blockHash: event.block.hash,
    transactionHash: event.transaction.hash,
  };
}

/** Runs the core on Ponder's tables for all movements of one log, or notes why the log is left out. */
export async function recordLog(
  context: Context,
  place: LogPlace,
  movements: Movement[] | SkipReason,
  { isFirstGeneration = false }: { isFirstGeneration?: boolean } = {},
): Promise<void> {
  const { db } = context;
  if (typeof movements === "string") return skipLog({ db }, place, movements);
  const recorded: Movement[] = [];
  let skipped: SkipReason | undefined;
  let hasKnownToken = false;
  for (const movement of movements) {
    const before = await recordMovement({ db }, movement);
    if (typeof before === "string") skipped = before;
    else {
      recorded.push(movement);
      hasKnownToken ||= before !== null;
    }
  }
  if (skipped) await skipLog({ db }, place, skipped);
  const [first] = recorded;
  if (!first) return;
  await recordHops(context, place, recorded);
  const key = { contract_address: place.contractAddress };
  // A known token has a known contract: one look-up less for most logs.
  if (hasKnownToken || (await db.find(contract, key))) return;
  await db.insert(contract).values({
    ...key,
    contract_type: first.standard,
    is_first_generation: isFirstGeneration,
    block_number: place.blockNumber,
    log_index: place.logIndex,
  });
}

/** The token's row as it was before, null where it is new. */
async function recordMovement({ db }: Pick<Context, "db">, movement: Movement): Promise<TokenRow | null | SkipReason> {
  const key = { contract_address: movement.contractAddress, token_id: movement.tokenId };
  const holders = holdersOf(movement);
  const before = await db.find(token, key);
  const sender = holders.sender ? await db.find(ownership, { ...key, owner: holders.sender }) : null;
  const receiver = holders.receiver ? await db.find(ownership, { ...key, owner: holders.receiver }) : null;

  const after = applyMovement({ token: before, sender, receiver }, movement);
  if (typeof after === "string") return after;

  await db.insert(tokenEvent).values(after.event);
  if (after.token) await writeToken({ db }, before, after.token);
  if (after.sender) await writeOwnership({ db }, sender, after.sender);
  if (after.receiver) await writeOwnership({ db }, receiver, after.receiver);
  return before;
}

/** Ponder works over every value that it is given, so only those that can have changed. */
async function writeToken({ db }: Pick<Context, "db">, before: TokenRow | null, after: TokenRow) {
  const { contract_address, token_id, owner } = after;
  if (!before) return db.insert(token).values(after);
  const isMinted = before.mint_address !== after.mint_address;
  return db.update(token, { contract_address, token_id }).set(isMinted ? after : { owner });
}

async function writeOwnership({ db }: Pick<Context, "db">, before: OwnershipRow | null, after: OwnershipRow) {
  if (!before) return db.insert(ownership).values(after);
  const { contract_address, token_id, owner, ...changes } = after;
  return db.update(ownership, { contract_address, token_id, owner }).set(changes);
}

async function skipLog({ db }: Pick<Context, "db">, place: LogPlace, reason: SkipReason): Promise<void> {
  await db.insert(skippedLog).values({
    block_number: place.blockNumber,
    log_index: place.logIndex,
    contract_address: place.contractAddress,
    reason,
  });
}
