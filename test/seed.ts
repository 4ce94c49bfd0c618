import type { Sql } from "postgres";
import { EMPTY_NORMALIZED } from "../api/token/metadata.ts";
import { addressOf, hashOf, inserter, ZERO } from "./api.ts";

export const APES = addressOf(0xa1);
export const ITEMS = addressOf(0xb2);
export const PUNKS = addressOf(0xc3);
export const COINS = addressOf(0xd4);
export const TEST_APES = addressOf(0xe5);
export const ALICE = addressOf(0xa11ce);
export const BOB = addressOf(0xb0b);
export const MAX_ID = 2n ** 256n - 1n;
export const EMPTY = JSON.parse(EMPTY_NORMALIZED) as object;
/** The stored document of an ape, with what is easily lost on the way. */
export const NORMALIZED = JSON.stringify({
  ...EMPTY,
  name: 'Ape "1" ünïcode',
  attributes: [{ display_type: null, trait_type: "Fur", value: "12345678901234567890.10" }],
});
/** The same as it was received. */
export const RAW = '{"name":"Ape \\"1\\" ünïcode"}\u2028\u0001';

/** Rows of every kind that an answer can show, on both networks. */
export async function seed(sql: Sql): Promise<void> {
  const main = inserter(sql);
  // The order of first appearance is not that of addresses.
  await main.contract(ITEMS, { contract_type: "ERC1155", block_number: 5, log_index: 1 });
  await main.contract(APES, { block_number: 5, log_index: 2 });
  await main.contract(PUNKS, { contract_type: "CRYPTOPUNKS", block_number: 3 });
  await main.contract(COINS, { block_number: 4 });
  await main.contractMetadata(APES, { name: "Apes", symbol: "APE", image: "ipfs://apes.png" });
  await main.contractMetadata(PUNKS, { name: "PUNKS", symbol: "C", erc165_type: "ERC1155" });
  await main.contractMetadata(COINS, { is_fungible: true });

  await main.token(APES, 1, {
    owner: ALICE,
    mint: { address: BOB, block: 5, timestamp: 1_600_000_005, hash: hashOf(0x55) },
  });
  await main.tokenMetadata(APES, 1, {
    raw: RAW,
    normalized: NORMALIZED,
    metadata_updated_at: 1_700_000_000,
    awaiting_metadata_update: false,
    token_uri: "ipfs://ape/1",
  });
  await main.token(APES, 2, { owner: ZERO });
  await main.token(APES, 10, { owner: BOB, mint: null });
  await main.token(APES, MAX_ID, { owner: ALICE });
  await main.token(ITEMS, 7, { standard: "ERC1155" });
  await main.ownership(ITEMS, 7, ALICE, 5, [9, 1, 0]);
  await main.ownership(ITEMS, 7, BOB, 2, [9, 1, 1]);
  await main.ownership(ITEMS, 7, addressOf(0xdead), 0, [10, 0, 0]);
  await main.token(ITEMS, 8, { standard: "ERC1155" });
  await main.ownership(ITEMS, 8, ALICE, 0);
  await main.token(PUNKS, 100, { standard: "CRYPTOPUNKS", owner: ALICE });
  await main.token(COINS, 1, { owner: ALICE });

  await main.event(APES, 1, [5, 2, 0], { event_type: "mint", from: ZERO, to: BOB });
  await main.event(APES, 1, [6, 0, 0], { from: BOB, to: ALICE });
  await main.event(APES, 2, [6, 0, 1], { event_type: "burn", to: ZERO });
  await main.event(APES, 1, [6, 3, 0]);
  await main.event(ITEMS, 7, [9, 1, 0], { quantity: MAX_ID });
  await main.event(COINS, 1, [4, 0, 0]);

  const other = inserter(sql, "testnet");
  await other.contract(TEST_APES);
  await other.token(TEST_APES, 1, { owner: ALICE });
}
