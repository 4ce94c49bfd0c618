import { concat, type Hex, keccak256, numberToHex } from "viem";
import { BLUR_POOL_ADDRESS } from "../abis/blur.ts";
import { ZORA_TRANSFER_HELPER_ADDRESS, zoraAbi, zoraModuleAbi } from "../abis/zora.ts";
import { define } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import { closeOrder, replaceOrder } from "./record-order.ts";
import type { Context } from "./store.ts";

/**
 * A Zora module has at most one ask for each token. It survives the token's transfers, and can't be filled until the
 * seller holds it again.
 */

type Token = { tokenContract: Hex; tokenId: bigint };
type Ask = { seller: Hex; askCurrency: Hex; askPrice: bigint };

const hashOf = ({ tokenContract, tokenId }: Token): Hex =>
  keccak256(concat([tokenContract, numberToHex(tokenId, { size: 32 })]));

export const zoraAsks = define(zoraAbi, {
  async AskCreated({ place, args }, context) {
    await placeAsk(context, place, args);
  },

  async AskPriceUpdated({ place, args }, context) {
    await placeAsk(context, place, args);
  },

  async AskCanceled({ place, args }, context) {
    await closeAsk(context, place, args, { isTaken: false });
  },
});

/** A module that its seller doesn't let act any more fills no ask: kept as an approval of the module for itself. */
export const zoraModules = define(zoraModuleAbi, {
  async ModuleApprovalSet({ place, args: { user: owner, module, approved: is_approved } }, { store }) {
    const { blockNumber: block_number, logIndex: log_index } = place;
    const row = { contract_address: module, owner, operator: module, is_approved };
    await store.insert("approval", { block_number, log_index, ...row });
  },
});

async function placeAsk(
  context: Context,
  place: LogPlace,
  { ask: { seller, askCurrency, askPrice }, ...token }: Token & { ask: Ask },
): Promise<void> {
  // Nobody can take one that is to be paid out of Blur's pool; the one before is over all the same.
  if (askCurrency === BLUR_POOL_ADDRESS) return closeAsk(context, place, token, { isTaken: false });
  const key = { order_hash: hashOf(token), marketplace: "zora" as const };
  await replaceOrder(context, place, key, {
    side: "listing",
    maker: seller,
    contract_address: token.tokenContract,
    token_id: token.tokenId,
    currency_address: askCurrency,
    amount: askPrice,
    operator: ZORA_TRANSFER_HELPER_ADDRESS,
    taker: null,
  });
}

/** Takes the ask for a token off the books. */
export async function closeAsk(
  context: Context,
  place: LogPlace,
  token: Token,
  { isTaken }: { isTaken: boolean },
): Promise<void> {
  await closeOrder(context, place, { order_hash: hashOf(token), isTaken });
}
