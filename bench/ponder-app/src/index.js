// JavaScript, because the types of "ponder:registry" are those of the repository's own indexer.
import { ponder } from "ponder:registry";
import { contract, ownership, token, tokenEvent } from "ponder:schema";
import { zeroAddress } from "viem";

ponder.on("Erc721:Transfer", async ({ event, context }) => {
  const { from, to, tokenId } = event.args;
  await move({ event, context, standard: "ERC721", batchIndex: 0, tokenId, from, to, amount: 1n });
});

ponder.on("Erc1155:TransferSingle", async ({ event, context }) => {
  const { from, to, id, value } = event.args;
  await move({ event, context, standard: "ERC1155", batchIndex: 0, tokenId: id, from, to, amount: value });
});

ponder.on("Erc1155:TransferBatch", async ({ event, context }) => {
  const { from, to, ids, values } = event.args;
  for (const [batchIndex, tokenId] of ids.entries()) {
    await move({ event, context, standard: "ERC1155", batchIndex, tokenId, from, to, amount: values[batchIndex] });
  }
});

/** One token moves: a row of `event`, and the three tables of state follow. */
async function move({ event, context: { db }, standard, batchIndex, tokenId, from, to, amount }) {
  const address = event.log.address;

  await db.insert(tokenEvent).values({
    block_number: Number(event.block.number),
    log_index: event.log.logIndex,
    batch_index: batchIndex,
    contract: address,
    token_id: tokenId,
    from_address: from,
    to_address: to,
    amount,
  });

  await db
    .insert(contract)
    .values({ address, standard, transfers: 1 })
    .onConflictDoUpdate((row) => ({ transfers: row.transfers + 1 }));

  const minted = (from === zeroAddress ? amount : 0n) - (to === zeroAddress ? amount : 0n);
  if (standard === "ERC721") {
    await db
      .insert(token)
      .values({ contract: address, token_id: tokenId, owner: to, supply: minted })
      .onConflictDoUpdate((row) => ({ owner: to, supply: row.supply + minted }));
  } else if (minted !== 0n) {
    await db
      .insert(token)
      .values({ contract: address, token_id: tokenId, supply: minted })
      .onConflictDoUpdate((row) => ({ supply: row.supply + minted }));
  }

  if (from !== zeroAddress) await addBalance(db, { address, tokenId, owner: from, amount: -amount });
  if (to !== zeroAddress) await addBalance(db, { address, tokenId, owner: to, amount });
}

async function addBalance(db, { address, tokenId, owner, amount }) {
  await db
    .insert(ownership)
    .values({ contract: address, token_id: tokenId, owner, balance: amount })
    .onConflictDoUpdate((row) => ({ balance: row.balance + amount }));
}
