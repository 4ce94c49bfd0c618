import { parseAbi } from "viem";

/** Source: the CryptoPunksMarket contract of 2017. Its Transfer is an ERC-20 one: who, to whom, and always 1. */
export const cryptopunksAbi = parseAbi([
  "event Assign(address indexed to, uint256 punkIndex)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex)",
  "event PunkOffered(uint256 indexed punkIndex, uint256 minValue, address indexed toAddress)",
  "event PunkNoLongerForSale(uint256 indexed punkIndex)",
  "event PunkBidEntered(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)",
  "event PunkBidWithdrawn(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)",
  "event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress)",
]);
