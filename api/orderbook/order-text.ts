/** What the fields of a Seaport order mean, by the names that Seaport's own client has for them. */
export const ORDER_TEXT = {
  offerer: "Address of the maker, who signed the order.",
  zone: "Address of the zone, which says who may fill an order of `orderType` 2 or 3; the zero address is none.",
  offer: "What the maker gives: in a listing the token, in an offer the money.",
  consideration:
    "What must be paid: in a listing the price, in an offer the token, each with the fees. All money is in one currency.",
  itemType:
    "0: the chain's own currency; 1: an ERC-20 currency; 2: an ERC-721 token; 3: an ERC-1155 token; 4 and 5, only in an " +
    "offer: any ERC-721 or ERC-1155 token of the contract.",
  token: "Address of the item's contract; the zero address for `itemType` 0.",
  identifierOrCriteria: "Token id; 0 for money and for `itemType` 4 and 5.",
  startAmount: "Units of the token, or money in the smallest unit of its currency, at `startTime`.",
  endAmount:
    "The same at `endTime`; in between, the amount changes evenly. For a token it is the same as `startAmount`.",
  recipient: "Address that receives the item.",
  orderType:
    "0: can only be filled whole; 1: can be filled in parts; 2 and 3: the same two where the zone allows it. 4, an order " +
    "that a contract makes, is never signed and therefore refused.",
  startTime: "Unix seconds from which on it can be filled.",
  endTime: "Unix seconds before which it can be filled.",
  zoneHash: "0x and 64 hex digits for the zone.",
  salt: "Any number. It tells orders with the same terms apart.",
  conduitKey:
    "Key of the conduit that moves what the maker gives, 0x and 64 hex digits; all zeros where the exchange itself does.",
  counter: "The maker's counter at the exchange. Raising it ends all orders signed before.",
  totalOriginalConsiderationItems: "How many items `consideration` has.",
  signature:
    "0x and hex digits: of a key (65 bytes, or 64 compact), of a bulk order, or what a contract accepts (ERC-1271).",
} as const;
