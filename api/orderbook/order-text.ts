/** What the fields of a Seaport order mean, by the names that Seaport's own client has for them. */
export const ORDER_TEXT = {
  offerer: "Address of the maker, who signed the order.",
  zone: "Address of the zone, which says who may fill an order of `orderType` 2 or 3; the zero address is none.",
  offer: "What the maker gives: a listing the token, an offer the money. Of one token, or any of one contract.",
  consideration:
    "What the maker wants, with fees: a listing the price, an offer the token. All money is of one currency.",
  itemType:
    "0: the chain's own currency; 1: a currency's contract (ERC-20); 2: an ERC-721 token; 3: an ERC-1155 token; 4 and 5, " +
    "wanted by an offer: any ERC-721 or ERC-1155 token of the contract.",
  token: "Address of the item's contract; the zero address of `itemType` 0.",
  identifierOrCriteria: "Token id; 0 of money and of `itemType` 4 and 5.",
  startAmount: "Units of the token, or money in the smallest unit of its currency, at `startTime`.",
  endAmount: "The same at `endTime`, with a straight line between. Of a token it is `startAmount`.",
  recipient: "Address of who gets it.",
  orderType:
    "0: filled whole; 1: in parts; 2 and 3: the same, as the zone allows. 4, an order of a contract, is never signed, " +
    "and refused.",
  startTime: "Unix seconds from which on it can be filled.",
  endTime: "Unix seconds before which it can be filled.",
  zoneHash: "0x and 64 hex digits that the zone may read.",
  salt: "Any number, which tells orders with the same terms apart.",
  conduitKey:
    "Key of the conduit that moves what the maker gives, 0x and 64 hex digits; zeros are the exchange itself.",
  counter: "The maker's counter at the exchange, which the maker raises to end all orders signed before.",
  totalOriginalConsiderationItems: "How many items `consideration` has.",
  signature:
    "0x and hex digits: of a key (65 bytes, or 64 compact), of a tree of orders, or what a contract takes for one.",
} as const;
