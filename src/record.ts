import type { Context } from "ponder:registry";
import { contract, ownership, skippedLog, token, tokenEvent } from "ponder:schema";
import type { Hex } from "viem";
import type { SkipReason } from "./limits.ts";
import { applyMovement, holdersOf, type LogPlace, type Movement, type OwnershipRow } from "./movement.ts";
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
  for (const movement of movements) {
    const reason = await recordMovement({ db }, movement);
    if (reason) skipped = reason;
    else recorded.push(movement);
  }
  if (skipped) await skipLog({ db }, place, skipped);
  const [first] = recorded;
  if (!first) return;
  await recordHops(context, place, recorded);
  const key = { contract_address: place.contractAddress };
  if (await db.find(contract, key)) return;
  await db.insert(contract).values({
    ...key,
    contract_type: first.standard,
    is_first_generation: isFirstGeneration,
    block_number: place.blockNumber,
    log_index: place.logIndex,
  });
}

async function recordMovement({ db }: Pick<Context, "db">, movement: Movement): Promise<SkipReason | undefined> {
  const key = { contract_address: movement.contractAddress, token_id: movement.tokenId };
  const holders = holdersOf(movement);
  const tokenBefore = await db.find(token, key);
  const sender = holders.sender ? await db.find(ownership, { ...key, owner: holders.sender }) : null;
  const receiver = holders.receiver ? await db.find(ownership, { ...key, owner: holders.receiver }) : null;

  const after = applyMovement({ token: tokenBefore, sender, receiver }, movement);
  if (typeof after === "string") return after;

  await db.insert(tokenEvent).values(after.event);
  if (after.token) {
    if (tokenBefore) await db.update(token, key).set(after.token);
    else await db.insert(token).values(after.token);
  }
  if (after.sender) await writeOwnership({ db }, sender, after.sender);
  if (after.receiver) await writeOwnership({ db }, receiver, after.receiver);
  return undefined;
}

async function writeOwnership({ db }: Pick<Context, "db">, before: OwnershipRow | null, after: OwnershipRow) {
  const { contract_address, token_id, owner } = after;
  if (before) await db.update(ownership, { contract_address, token_id, owner }).set(after);
  else await db.insert(ownership).values(after);
}

async function skipLog({ db }: Pick<Context, "db">, place: LogPlace, reason: SkipReason): Promise<void> {
  await db.insert(skippedLog).values({
    block_number: place.blockNumber,
    log_index: place.logIndex,
    contract_address: place.contractAddress,
    reason,
  });
}
