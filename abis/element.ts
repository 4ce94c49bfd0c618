import { parseAbi } from "viem";

/** The amounts have the fees in them. Source: Element's IElementEvent, ERC721OrdersFeature and ERC1155OrdersFeature. */
export const elementAbi = parseAbi([
  "struct Fee { address recipient; uint256 amount; }",
  "event ERC721SellOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, Fee[] fees, address erc721Token, uint256 erc721TokenId)",
  "event ERC721BuyOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, Fee[] fees, address erc721Token, uint256 erc721TokenId)",
  "event ERC1155SellOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, Fee[] fees, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount)",
  "event ERC1155BuyOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, Fee[] fees, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount)",
]);

/** By chain id. Source: reservoirprotocol/indexer (6dceb71). */
export const ELEMENT_ADDRESSES: Record<number, string[]> = {
  1: ["0x20f780a973856b93f63670377900c1d2a50a77c4"],
  10: ["0x2317d8b224328644759319dffa2a5da77c72e0e9"],
  56: ["0xb3e3dfcb2d9f3dde16d78b9e6eb3538eb32b5ae1"],
  137: ["0xeaf5453b329eb38be159a872a6ce91c9a8fb0260"],
  204: ["0x5417c5215f239b8d04f9d9c04bf43034b35ad4bd"],
  324: ["0x64848eefbc2921102a153b08fa64536ae1f8e937"],
  8453: ["0xa39a5f160a1952ddf38781bd76e402b0006912a9"],
  42161: ["0x18cd9270dbdca86d470cfb3be1b156241fffa9de"],
  43114: ["0x18cd9270dbdca86d470cfb3be1b156241fffa9de"],
  59144: ["0x0cab6977a9c70e04458b740476b498b214019641"],
  81457: ["0x4196b39157659bf0de9ebf6e505648b7889a39ce"],
  534352: ["0x0cab6977a9c70e04458b740476b498b214019641"],
};
