import { parseAbi } from "viem";

/** `matcher`: whoever matched two orders, else nobody. Source: 0xProject/protocol, I{ERC721,ERC1155}OrdersEvents. */
export const zeroExAbi = parseAbi([
  "event ERC721OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, address matcher)",
  "event ERC1155OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, address matcher)",
]);

const ADDRESS = "0xdef1c0ded9bec7f1a1670819833240f027b25eff";

/** By chain id. Source: reservoirprotocol/indexer (6dceb71). */
export const ZERO_EX_ADDRESSES: Record<number, string[]> = {
  1: [ADDRESS],
  10: ["0xdef1abe32c034e558cdd535791643c58a13acc10"],
  56: [ADDRESS],
  137: [ADDRESS],
  42161: [ADDRESS],
};
