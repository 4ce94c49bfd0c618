import { concat, type Hex, keccak256, numberToHex } from "viem";
import { BLUR_POOL_ADDRESS } from "../abis/blur.ts";
import { ZORA_TRANSFER_HELPER_ADDRESS, zoraAbi, zoraModuleAbi } from "../abis/zora.ts";
import { define } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import { closeOrder, replaceOrder } from "./record-order.ts";
import type { Context } from "./store.ts";

/**
 * A Zora module has at most one ask for each token. An ask survives transfers of the token, but can't be filled until
 * the seller holds the token again.
 */

type Token = { tokenContract: Hex; tokenId: bigint };
type Ask = { seller: Hex; askCurrency: Hex; askPrice: bigint };

const hashOf = ({ tokenContract, tokenId }: Token): Hex =>
  keccak256(concat([tokenContract, numberToHex(tokenId, { size: 32 })]));

/** Asks as listings. What fills them is in `zora.ts`. */
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

/**
 * A module fills a seller's asks only while he approves it. Kept in `approval` with the module as both contract and
 * operator.
 */
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
  // Nobody could be shown it, and the worker would ask about it.
  if (!context.isIndexed(token.tokenContract)) return;
  // Nobody can pay out of Blur's pool at Zora, so such an ask can't be filled. The ask before it is over all the same.
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

/** Closes the ask for a token. */
export async function closeAsk(
  context: Context,
  place: LogPlace,
  token: Token,
  { isTaken }: { isTaken: boolean },
): Promise<void> {
  await closeOrder(context, place, { order_hash: hashOf(token), isTaken });
}
