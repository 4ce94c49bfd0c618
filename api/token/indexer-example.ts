import { zeroAddress } from "viem";
import { EMPTY_NORMALIZED } from "./metadata.ts";

/* What the OpenAPI document shows as answers. */

export const CONTRACT = "0x7d7f4a5c2b8a0a1f6d5b1c0e9f8a7b6c5d4e3f21";
export const ACCOUNT = "0x52908400098527886e0f7030069857d2e4169ee7";
export const TRANSACTION = `0x${"5c".repeat(32)}`;
export const TOKEN_ID_HEX = `0x${"2a".padStart(64, "0")}`;
export const CURSOR = "qgK0Zc9nR0mFJ2bCq3l2sVsiNDIiXQ";

export const contract = {
  contract_address: CONTRACT,
  contract_type: "ERC721",
  name: "Example Apes",
  symbol: "APE",
  image: null,
};
export const mint = { address: ACCOUNT, timestamp: 1_700_000_000, transaction_hash: TRANSACTION };
export const normalized = {
  ...(JSON.parse(EMPTY_NORMALIZED) as object),
  name: "Ape #42",
  image: "ipfs://QmExample/42.png",
  attributes: [{ display_type: null, trait_type: "Fur", value: "Gold" }],
};
export const raw =
  '{"name":"Ape #42","image":"ipfs://QmExample/42.png","attributes":[{"trait_type":"Fur","value":"Gold"}]}';
export const metadata = { normalized, raw, metadata_updated_at: 1_700_000_100 };
export const token = {
  contract_address: CONTRACT,
  token_id: "42",
  token_id_hex: TOKEN_ID_HEX,
  owner: ACCOUNT,
  mint_info: mint,
  metadata,
  type: "ERC721",
};
export const event = {
  contract_address: CONTRACT,
  contract_type: "ERC721",
  event_id: `${TRANSACTION}-7-0`,
  event_type: "mint",
  from_address: zeroAddress,
  to_address: ACCOUNT,
  timestamp: 1_700_000_000,
  token_id: "42",
  token_id_hex: TOKEN_ID_HEX,
  transaction_hash: TRANSACTION,
  quantity: "1",
  block_number: 18_500_000,
  log_index: 7,
};

export const sale = {
  ...event,
  event_id: `${TRANSACTION}-9-0`,
  event_type: "sale",
  from_address: ACCOUNT,
  to_address: `0x${"b0b5".repeat(10)}`,
  log_index: 9,
  price: "1000000000000000000",
  currency_address: zeroAddress,
  price_note: null,
  marketplace: "seaport",
  broker: "0x0000a26b00c1f0df003000390027140000faa719",
};
