/**
 * Written by `npm run client` out of the OpenAPI document. Not for editing.
 */

/** A contract of tokens, which others call a collection. */
export type Contract = {
  /** Address of the contract. */
  contract_address: string;
  /** As the contract says by ERC-165, else as its first event was. `ERC721`: each token has one owner; `ERC1155`: a token may have many holders; `CRYPTOPUNKS`: the market contract of 2017. */
  contract_type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
  /** What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name. */
  name: string;
  /** What the contract says by `symbol()`, up to 64 characters; empty where it has none. */
  symbol: string;
  /** Link to the image that the contract's `contractURI()` names (ERC-7572), or a drawing (SVG) itself; null where none is known. */
  image: string | null;
};

/** Why a request was not answered. */
export type ErrorBody = {
  /** Whose fault it is: `invalid_request` the request's (4xx), `api_error` ours (5xx). */
  type: "invalid_request" | "api_error";
  /** What is wrong, and what is accepted, for people to read. */
  message: string;
};

/** A token, which stays readable when it is burned. */
export type Token = {
  /** Address of the contract. */
  contract_address: string;
  /** Token id, decimal. */
  token_id: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id_hex: string;
  /** Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds it. The zero address where an ERC-721 token is burned. */
  owner: string;
  /** The first mint of the token. */
  mint_info: {
    /** Receiver of the first transfer from the zero address; null where no mint was seen. */
    address: string | null;
    /** Unix seconds of the mint; null where none was seen. */
    timestamp: number | null;
    /** Hash of the transaction of the mint; null where none was seen. */
    transaction_hash: string | null;
  };
  metadata: Metadata;
  /** As the contract says by ERC-165, else as its first event was. `ERC721`: each token has one owner; `ERC1155`: a token may have many holders; `CRYPTOPUNKS`: the market contract of 2017. */
  type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
};

/** What a token's URI leads to. A fetch that fails leaves what was there before as it is. */
export type Metadata = {
  normalized: NormalizedMetadata;
  /** The document as it was fetched, up to 5 MB; empty before the first fetch, and where the token's URI leads straight to an image, film, sound or model. */
  raw: string;
  /** Unix seconds of the last fetch that succeeded; null before it. */
  metadata_updated_at: number | null;
};

/** Metadata in one shape, whatever the project wrote. A text is empty where the document has none, all are before the first fetch. At most 256 KiB of JSON: texts that are longer are cut, and the last attributes and properties left out. */
export type NormalizedMetadata = {
  /** Type of the cached image, as its content was recognized; empty while it isn't cached. */
  image_mime_type: string;
  /** Key of the cached image, or of the drawing, for `/media/{key}`; empty while it isn't cached. */
  image_key: string;
  /** Link to the image, in its own scheme (`https:`, `ipfs:`, `ar:`, `data:` …). What turns out to be film, sound or a model is the animation instead, where the document names no other. A link that leads to a page stays here, without a key. */
  image: string;
  /** The image itself as text, mostly SVG, where the document has it so. */
  image_data: string;
  /** Link to the project's own page of the token. */
  external_url: string;
  /** What the token is about. */
  description: string;
  /** Name of the token. */
  name: string;
  /** Traits, in the document's order and without exact repetitions; empty where it has none. */
  attributes: {
    /** How the project wants it shown, as `number` or `date`; null where it doesn't say. */
    display_type: string | null;
    /** Name of the trait; empty where it has none. */
    trait_type: string;
    /** Always a text: numbers keep the digits of the source, booleans are `true` and `false`, arrays are joined by a comma and a space, objects are JSON, null is empty. */
    value: string;
  }[];
  /** The document's `properties`, from a map or a list; null where it has none. */
  properties:
    | {
        /** Its own name, else its key in the document; null where it has neither. */
        name: string | null;
        /** A text like that of an attribute; null where it has none. */
        value: string | null;
        /** What the document says that it is; null where it doesn't. */
        type: string | null;
        /** What it is about; null where the document doesn't say. */
        description: string | null;
      }[]
    | null;
  /** Six hex digits in lower case, without `#`. */
  background_color: string;
  /** Link to a film, sound, model or page, in its own scheme. */
  animation_url: string;
  /** Key of its cached content for `/media/{key}`; empty while it isn't cached. */
  animation_key: string;
  /** Type of its cached content, as that was recognized; empty while it isn't cached. */
  animation_mime_type: string;
  /** Link to a film on YouTube. */
  youtube_url: string;
};

/** A token of a batch: a Token with more about its mint, contract and metadata. */
export type BatchToken = {
  /** Address of the contract. */
  contract_address: string;
  /** Token id, decimal. */
  token_id: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id_hex: string;
  /** Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds it. The zero address where an ERC-721 token is burned. */
  owner: string;
  /** The first mint of the token. */
  mint_info: {
    /** Receiver of the first transfer from the zero address; null where no mint was seen. */
    address: string | null;
    /** Unix seconds of the mint; null where none was seen. */
    timestamp: number | null;
    /** Hash of the transaction of the mint; null where none was seen. */
    transaction_hash: string | null;
    /** Number of the block of the mint; null where none was seen. */
    block_number: number | null;
  };
  metadata: Metadata;
  /** As the contract says by ERC-165, else as its first event was. `ERC721`: each token has one owner; `ERC1155`: a token may have many holders; `CRYPTOPUNKS`: the market contract of 2017. */
  type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
  /** What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name. */
  contract_name: string;
  /** A fetch is due or under way: the first one, one that was asked for, or one after the contract said that metadata has changed. False once it has ended, well or not. */
  awaiting_metadata_update: boolean;
};

/** One token that moved, or was sold: each entry of a batch is an event of its own. */
export type Event = {
  /** Address of the contract. */
  contract_address: string;
  /** As the contract says by ERC-165, else as its first event was. `ERC721`: each token has one owner; `ERC1155`: a token may have many holders; `CRYPTOPUNKS`: the market contract of 2017. */
  contract_type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
  /** `<transaction_hash>-<log_index>-<place in the log>`: unique, and the same after every rebuild. */
  event_id: string;
  /** `mint`: from the zero address; `transfer`: from one account to another; `burn`: to the zero address; `sale`: sold on a marketplace, beside the transfer that carried it. */
  event_type: "mint" | "transfer" | "burn" | "sale";
  /** Sender; the zero address on a mint, the seller on a sale. */
  from_address: string;
  /** Receiver; the zero address on a burn, the buyer on a sale. */
  to_address: string;
  /** Unix seconds of the block. */
  timestamp: number;
  /** Token id, decimal. */
  token_id: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id_hex: string;
  /** Hash of the transaction. */
  transaction_hash: string;
  /** Extension: units moved or sold, decimal; a transfer may be of 0. */
  quantity: string;
  /** Extension: number of the block. */
  block_number: number;
  /** Extension: place of the log in its block, from 0. */
  log_index: number;
  /** Extension, of a sale alone: for all units of this event, in the smallest unit of the currency, decimal, fees included but for what `price_note` says. Null where no log tells it. */
  price?: string | null;
  /** Extension, of a sale alone: contract of the currency; the zero address is the chain's own. Null where `price` is. */
  currency_address?: string | null;
  /** Extension, of a sale alone: null where the price is simply what was paid. `bundle`: it is a share, by units, of one total for several tokens. `fees on top`: it is the order's, to which the buyer may have paid fees on top of which no log has the amount. Others say why there is none: `barter` (tokens for tokens), `several currencies`, `unknown currency` and `unknown bid` (logs don't tell), `out of range` (above 2^256-1). */
  price_note?: string | null;
  /** Extension, of a sale alone: the exchange, one of `seaport`, `cryptopunks`, `blur`, `looksrare`, `x2y2`, `wyvern`, `zora`, `foundation`, `payment-processor`, `element`, `superrare` and `0x`. */
  marketplace?: string;
  /** Extension, of a sale alone: its first fee recipient that isn't the seller, else the exchange's contract. */
  broker?: string;
};

/** A token that an account holds. */
export type OwnerToken = {
  /** Address of the contract. */
  contract_address: string;
  /** Token id, decimal. */
  token_id: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id_hex: string;
  /** Address of the account asked for. */
  owner: string;
  /** Number of the block of the mint, decimal; null where none was seen. */
  block_number_minted: string | null;
  /** As the contract says it, which may be a whole document, with the id in the place of `{id}` where the token is ERC-1155; empty where it says none, or wasn't asked yet. */
  token_uri: string;
  /** What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name. */
  name: string;
  /** What the contract says by `symbol()`, up to 64 characters; empty where it has none. */
  symbol: string;
  /** The document as it was fetched, up to 5 MB; empty before the first fetch, and where the token's URI leads straight to an image, film, sound or model. */
  metadata: string;
  /** A NormalizedMetadata as JSON text. */
  normalized_metadata: string;
  /** Unix seconds of the last fetch that succeeded; null before it. */
  last_metadata_refresh: number | null;
  /** Receiver of the first transfer from the zero address; null where no mint was seen. */
  minter_address: string | null;
  /** Hash of the transaction of the mint; null where none was seen. */
  mint_transaction_hash: string | null;
  /** Extension: units that the account holds, decimal; 1 for ERC-721. */
  balance: string;
};

/** Tokens of one contract that an account holds. */
export type Holdings = {
  /** Address of the contract. */
  contract_address: string;
  /** What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name. */
  contract_name: string;
  /** What the contract says by `symbol()`, up to 64 characters; empty where it has none. */
  contract_symbol: string;
  /** Link to the image that the contract's `contractURI()` names (ERC-7572), or a drawing (SVG) itself; null where none is known. */
  contract_image: string | null;
  /** Its tokens that the account holds, by ascending token id. */
  items: {
    /** Token id, decimal. */
    token_id: string;
    /** Address of the account asked for. */
    owner: string;
    /** The first mint of the token. */
    mint_info: {
      /** Receiver of the first transfer from the zero address; null where no mint was seen. */
      address: string | null;
      /** Unix seconds of the mint; null where none was seen. */
      timestamp: number | null;
      /** Hash of the transaction of the mint; null where none was seen. */
      transaction_hash: string | null;
      /** Number of the block of the mint; null where none was seen. */
      block_number: number | null;
    };
    metadata: Metadata;
    /** A fetch is due or under way: the first one, one that was asked for, or one after the contract said that metadata has changed. False once it has ended, well or not. */
    awaiting_metadata_update: boolean;
  }[];
};

/** A token with its best listing: the cheapest for one unit now, those in the chain's own currency or its wrapped form before all others. Every value is a text. What is said of a listing is empty where `is_listed` is `false`. */
export type OrderbookToken = {
  /** Chain id in hex, as `0x1`. */
  token_chain_id: string;
  /** Address of the contract. */
  contract_address: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id: string;
  /** Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds it. The zero address where an ERC-721 token is burned. */
  current_owner: string;
  /** Unix seconds of when the listing was placed. */
  listed_timestamp: string;
  /** Unix seconds of the last event of the token, or of that listing of it which was placed last, also where it is over. */
  updated_timestamp: string;
  /** What a buyer pays now for one unit, in the smallest unit of the currency, rounded up. */
  current_price: string;
  /** Units that are left for sale; of a token that isn't listed, units that `current_owner` holds. */
  quantity: string;
  /** What was asked for one unit at `start_date`, in the smallest unit of the currency, rounded up. */
  start_amount: string;
  /** What will be asked for one unit at `end_date`, in the same way; empty where the price is fixed. */
  end_amount: string;
  /** Unix seconds from which on the listing can be filled. */
  start_date: string;
  /** Unix seconds before which the listing can be filled; empty where it has no end. */
  end_date: string;
  /** Address of the first fee recipient that isn't the seller, else of the exchange's contract. */
  broker_id: string;
  /** A listing could be filled now by anybody: begun, not over, neither cancelled nor filled, its maker's counter not raised, the units still theirs and approved. Its zone, or the token's contract, may refuse all the same: that shows when it is filled. */
  is_listed: "true" | "false";
  /** An offer on the token, or on any of its contract, could be accepted now, as far as the last few seconds tell of its maker's money. Its zone, or the contract of the token or the currency, may refuse all the same. */
  has_offer: "true" | "false";
  /** Extension: contract of the listing's currency; the zero address is the chain's own. */
  currency_address: string;
  /** Extension: hash of the listing, the exchange's own where it has any: Seaport. */
  order_hash: string;
  /** Extension: where the listing can be filled: `seaport`, `cryptopunks` or `zora`. */
  exchange: string;
};

/** A token with the offers on it and on any of its contract. */
export type OrderbookOffers = {
  /** Address of the contract. */
  contract_address: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id: string;
  /** Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds it. The zero address where an ERC-721 token is burned. */
  current_owner: string;
  /** What a buyer pays now for one unit, in the smallest unit of the best listing's currency; empty where it isn't listed. */
  current_price: string;
  /** Highest for one unit first, those in the chain's own currency or its wrapped form before others; at most 250. */
  offers: {
    /** Address of who bids. */
    offer_maker: string;
    /** What is paid now for all of `offer_quantity`, in the smallest unit of the currency, decimal. The fees that the offer names come out of it. */
    offer_amount: string;
    /** Units that are still wanted, decimal. */
    offer_quantity: string;
    /** Unix seconds of when the offer was placed. */
    offer_timestamp: number;
    /** Extension: contract of the currency; the zero address is the chain's own. */
    currency_address: string;
    /** Extension: hash of the offer, the exchange's own where it has any: Seaport. Of one that was sent here, `GET /orderbook/orders/{order_hash}` has what it takes to accept it. */
    order_hash: string;
    /** Extension: where the offer can be accepted: `seaport` or `cryptopunks`. */
    exchange: string;
  }[];
};

/** A token with what became of the orders for it. */
export type OrderbookHistory = {
  /** Address of the contract. */
  contract_address: string;
  /** Token id in hex: 0x and 64 digits. */
  token_id: string;
  /** Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds it. The zero address where an ERC-721 token is burned. */
  current_owner: string;
  /** Newest first, at most 250. Where there are more, offers in other currencies than the chain's own or its wrapped form are left out first, then those on its contract. */
  history: {
    /** `Listing`: the token was offered for sale; `Auction`: the same at a price that falls with time, Seaport's; auctions with bids are seen when they end, as listings that were bought; `Offer`: somebody bid for the token; `CollectionOffer`: somebody bid for any token of its contract. */
    event_type: "Listing" | "Auction" | "Offer" | "CollectionOffer";
    /** Unix seconds of what `order_status` says. */
    event_timestamp: number;
    /** `PLACED`: the order was put on the chain or sent here; `FULFILLED`: a listing was bought; `CANCELLED`: the order was cancelled before it was filled or over; `EXECUTED`: an offer was accepted. */
    order_status: "PLACED" | "FULFILLED" | "CANCELLED" | "EXECUTED";
    /** Of a sale the seller, of a listing its maker; empty of an offer that wasn't accepted. */
    previous_owner: string;
    /** Of a sale the buyer, of an offer its maker; empty of a listing that wasn't bought. */
    new_owner: string;
    /** For all units, in the smallest unit of the currency, decimal; 0 where nobody can say what a sale cost. Of an order what it began with. */
    amount: string;
    /** `cancelled on chain`: this order alone; `counter raised on chain`: its maker ended all that they had signed for the exchange. Null of anything else than CANCELLED. */
    canceled_reason: string | null;
    /** Extension: contract of the currency; the zero address is the chain's own. Empty where nobody can say what a sale cost. */
    currency_address: string;
  }[];
};

/** A listing or an offer as Seaport's own client makes it. Numbers are decimal or 0x hex as a text, up to 2^256-1; a whole JSON number is taken as well. */
export type SignedOrder = {
  /** What was signed, as Seaport's own client has it. */
  parameters: {
    /** Address of the maker, who signed the order. */
    offerer: string;
    /** Address of the zone, which says who may fill an order of `orderType` 2 or 3; the zero address is none. */
    zone: string;
    /** What the maker gives: in a listing the token, in an offer the money. */
    offer: {
      /** 0: the chain's own currency; 1: an ERC-20 currency; 2: an ERC-721 token; 3: an ERC-1155 token; 4 and 5, only in an offer: any ERC-721 or ERC-1155 token of the contract. */
      itemType: number;
      /** Address of the item's contract; the zero address for `itemType` 0. */
      token: string;
      /** Token id; 0 for money and for `itemType` 4 and 5. */
      identifierOrCriteria: string | number | bigint;
      /** Units of the token, or money in the smallest unit of its currency, at `startTime`. */
      startAmount: string | number | bigint;
      /** The same at `endTime`; in between, the amount changes evenly. For a token it is the same as `startAmount`. */
      endAmount: string | number | bigint;
    }[];
    /** What must be paid: in a listing the price, in an offer the token, each with the fees. All money is in one currency. */
    consideration: {
      /** 0: the chain's own currency; 1: an ERC-20 currency; 2: an ERC-721 token; 3: an ERC-1155 token; 4 and 5, only in an offer: any ERC-721 or ERC-1155 token of the contract. */
      itemType: number;
      /** Address of the item's contract; the zero address for `itemType` 0. */
      token: string;
      /** Token id; 0 for money and for `itemType` 4 and 5. */
      identifierOrCriteria: string | number | bigint;
      /** Units of the token, or money in the smallest unit of its currency, at `startTime`. */
      startAmount: string | number | bigint;
      /** The same at `endTime`; in between, the amount changes evenly. For a token it is the same as `startAmount`. */
      endAmount: string | number | bigint;
      /** Address that receives the item. */
      recipient: string;
    }[];
    /** 0: can only be filled whole; 1: can be filled in parts; 2 and 3: the same two where the zone allows it. 4, an order that a contract makes, is never signed and therefore refused. */
    orderType: number;
    /** Unix seconds from which on it can be filled. */
    startTime: string | number | bigint;
    /** Unix seconds before which it can be filled. */
    endTime: string | number | bigint;
    /** 0x and 64 hex digits for the zone. */
    zoneHash: string;
    /** Any number. It tells orders with the same terms apart. */
    salt: string | number | bigint;
    /** Key of the conduit that moves what the maker gives, 0x and 64 hex digits; all zeros where the exchange itself does. */
    conduitKey: string;
    /** The maker's counter at the exchange. Raising it ends all orders signed before. By default what it is now. */
    counter?: string | number | bigint;
    /** How many items `consideration` has. */
    totalOriginalConsiderationItems?: string | number | bigint;
  };
  /** 0x and hex digits: of a key (65 bytes, or 64 compact), of a bulk order, or what a contract accepts (ERC-1271). */
  signature: string;
  /** Address of the Seaport that the order was signed for; by default the one that the signature fits. */
  exchange_address?: string;
};

/** An order that its maker sent here, with what Seaport's client takes to fill it. */
export type FillableOrder = {
  /** Hash of the order, as the exchange has it. */
  order_hash: string;
  /** The Seaport that it was signed for. */
  exchange_address: string;
  /** Unix seconds of when it was sent here first. */
  placed_timestamp: number;
  /** What is left of it could be filled now: by the same rules as lists have, with what a bidder has as of the last few seconds. Lists leave out a listing for one account alone, which may be fillable all the same. Whether its zone, or a contract that is to move something, agrees isn't asked. */
  is_fillable: boolean;
  /** As Seaport and its client take them. Texts of numbers are decimal. */
  parameters: {
    /** Address of the maker, who signed the order. */
    offerer: string;
    /** Address of the zone, which says who may fill an order of `orderType` 2 or 3; the zero address is none. */
    zone: string;
    /** What the maker gives: in a listing the token, in an offer the money. */
    offer: {
      /** 0: the chain's own currency; 1: an ERC-20 currency; 2: an ERC-721 token; 3: an ERC-1155 token; 4 and 5, only in an offer: any ERC-721 or ERC-1155 token of the contract. */
      itemType: number;
      /** Address of the item's contract; the zero address for `itemType` 0. */
      token: string;
      /** Token id; 0 for money and for `itemType` 4 and 5. */
      identifierOrCriteria: string;
      /** Units of the token, or money in the smallest unit of its currency, at `startTime`. */
      startAmount: string;
      /** The same at `endTime`; in between, the amount changes evenly. For a token it is the same as `startAmount`. */
      endAmount: string;
    }[];
    /** What must be paid: in a listing the price, in an offer the token, each with the fees. All money is in one currency. */
    consideration: {
      /** 0: the chain's own currency; 1: an ERC-20 currency; 2: an ERC-721 token; 3: an ERC-1155 token; 4 and 5, only in an offer: any ERC-721 or ERC-1155 token of the contract. */
      itemType: number;
      /** Address of the item's contract; the zero address for `itemType` 0. */
      token: string;
      /** Token id; 0 for money and for `itemType` 4 and 5. */
      identifierOrCriteria: string;
      /** Units of the token, or money in the smallest unit of its currency, at `startTime`. */
      startAmount: string;
      /** The same at `endTime`; in between, the amount changes evenly. For a token it is the same as `startAmount`. */
      endAmount: string;
      /** Address that receives the item. */
      recipient: string;
    }[];
    /** 0: can only be filled whole; 1: can be filled in parts; 2 and 3: the same two where the zone allows it. 4, an order that a contract makes, is never signed and therefore refused. */
    orderType: number;
    /** Unix seconds from which on it can be filled. */
    startTime: string;
    /** Unix seconds before which it can be filled. */
    endTime: string;
    /** 0x and 64 hex digits for the zone. */
    zoneHash: string;
    /** Any number. It tells orders with the same terms apart. */
    salt: string;
    /** Key of the conduit that moves what the maker gives, 0x and 64 hex digits; all zeros where the exchange itself does. */
    conduitKey: string;
    /** The maker's counter at the exchange. Raising it ends all orders signed before. */
    counter: string;
    /** How many items `consideration` has. */
    totalOriginalConsiderationItems: number;
  };
  /** 0x and hex digits: of a key (65 bytes, or 64 compact), of a bulk order, or what a contract accepts (ERC-1271). */
  signature: string;
};

/** A contract of tokens, as the marketplace shows it. Of descriptions with images above 16 kB a page of collections has the first 4 MB: those of others are empty. */
export type Collection = {
  /** Address of the contract. */
  collection_id: string;
  /** What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name. */
  collection_name: string;
  /** What the contract's `contractURI()` says that it is about, up to 10,000 characters; empty where it says nothing. */
  collection_description: string;
  /** Link to the image that the contract's `contractURI()` names (ERC-7572), or a drawing (SVG) itself; empty where none is known. */
  collection_image: string;
};

/** A collection of which an account holds something. Of images above 16 kB a page has the first 4 MB: those of others are empty. */
export type PortfolioCollection = {
  /** Address of the contract. */
  address: string;
  /** Link to the image that the contract's `contractURI()` names (ERC-7572), or a drawing (SVG) itself; empty where none is known. */
  image: string;
  /** What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name. */
  collection_name: string;
  /** The lowest ask for one unit that could be taken now, in whole units of the chain's currency, to which its wrapped form counts; null where nothing is on sale for that. */
  floor: number | null;
  /** Tokens that somebody holds, each id once; as of a moment ago in a collection that has had 1,000 or more. */
  token_count: number;
  /** Those that the account holds, each id once. */
  user_token_count: number;
  /** Those that the account has on sale, each id once. */
  user_listed_tokens: number;
  /** The operator of this service has verified it. */
  is_verified: boolean;
};

/** A token that somebody holds, with its best listing: the cheapest, those in the chain's currency first. */
export type CollectionToken = {
  /** Address of the contract. */
  contract: string;
  /** Token id, decimal. */
  token_id: string;
  /** What one unit was sold for last; null where none was. Bundles and sales in other currencies are left out. In whole units of the chain's currency, to which its wrapped form counts. */
  last_price: number | null;
  /** By how many percent the price is above the collection's floor, to two decimals; null where `price` is, or the floor is 0. */
  floor_difference: number | null;
  /** When the best listing was placed; null where it isn't on sale. Unix seconds. */
  listed_at: number | null;
  /** Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds it. The zero address where an ERC-721 token is burned. */
  owner: string;
  /** When it was minted first; null where no mint was seen. Unix seconds. */
  minted_at: number | null;
  /** Last event of the token, or of that listing of it which was placed last, also where it is over. Unix seconds. */
  updated_at: number;
  /** What a buyer pays now for one unit; null where it isn't on sale, or only in another currency. In whole units of the chain's currency, to which its wrapped form counts. */
  price: number | null;
  /** Extension: what a buyer pays now for one unit, exactly, in the smallest unit of the currency, decimal; empty where it isn't on sale. */
  amount: string;
  /** Extension: contract of that currency; the zero address is the chain's own. Empty where it isn't on sale. */
  currency_address: string;
  /** Out of the normalized metadata; empty texts where there is none. Of documents above 16 kB, as those that hold their picture are, a page has the first 4 MB: the texts of others are empty too. */
  metadata: {
    /** Name of the token. */
    name: string;
    /** What it is about. */
    description: string;
    /** Link to its image, in its own scheme. */
    image: string;
  };
};

/** A token that an account holds, with the account's own best listing. */
export type PortfolioToken = {
  /** Address of the contract. */
  contract: string;
  /** Token id, decimal. */
  token_id: string;
  /** What the account asks now for one unit; null where it doesn't sell it, or only in another currency. In whole units of the chain's currency, to which its wrapped form counts. */
  list_price: number | null;
  /** The highest offer of others for one unit that stands now, those on any token of the collection counted too; null where there is none. In whole units of the chain's currency, to which its wrapped form counts. */
  best_offer: number | null;
  /** The collection's lowest ask for one unit; null where nothing is on sale. In whole units of the chain's currency, to which its wrapped form counts. */
  floor: number | null;
  /** When the account received it last. Unix seconds. */
  received_at: number | null;
  /** Extension: units that the account holds, decimal; 1 for ERC-721. */
  balance: string;
  /** Extension: what a buyer pays now for one unit, exactly, in the smallest unit of the currency, decimal; empty where it isn't on sale. */
  amount: string;
  /** Extension: contract of that currency; the zero address is the chain's own. Empty where it isn't on sale. */
  currency_address: string;
  /** Out of the normalized metadata; empty texts where there is none. Of documents above 16 kB, as those that hold their picture are, a page has the first 4 MB: the texts of others are empty too. */
  metadata: {
    /** Name of the token. */
    name: string;
    /** What it is about. */
    description: string;
    /** Link to its image, in its own scheme. */
    image: string;
  };
};

/** A key for the header `x-api-key`, good on both networks. */
export type NewKey = {
  /** The key: `nft_` and 40 hex digits. Shown this once: only its hash is stored. */
  key: string;
  /** The first 12 characters of it, by which the operator lists and revokes it. */
  prefix: string;
  /** As it was given, without white space around it. */
  name: string;
};

/** The state of this service. */
export type Status = {
  /** The networks that the indexer has reported; `testnet` only where it is configured. */
  networks: {
    mainnet?: NetworkStatus;
    testnet?: NetworkStatus;
  };
  /** How far metadata is fetched. */
  metadata: {
    /** Tokens that the worker knows, of both networks. */
    tokens: number;
    /** Tokens that have a document. */
    fetched: number;
    /** Tokens without a document that were not tried yet. */
    waiting: number;
    /** Tokens without a document that were tried. */
    failing: number;
    /** Fetches a second, lately, of all workers. */
    fetches_per_second: number;
    /** How long the token that is due for the longest time has waited; null where none is due. */
    oldest_due_seconds: number | null;
    /** Extension: tokens whose last attempt failed, by reason and host, also those that keep an earlier document. The most frequent first; at most 50. */
    failures: {
      /** The reason: `http_404`, `timeout`, `dns`, `no_uri`, `bad_json` and the like. */
      code: string;
      /** Host and port of the origin; empty where none is involved. */
      host: string;
      /** Tokens that fail for this reason. */
      tokens: number;
    }[];
    /** Extension: workers that have reported within the last 20 seconds. */
    workers: number;
  };
};

/** How far a network is indexed. */
export type NetworkStatus = {
  /** The chain's own id. */
  chain_id: number;
  /** `backfill`: history is being indexed, or indexed anew; `live`: new blocks are indexed as they come; `stalled`: nothing is being indexed, and `reason` says why. */
  state: "backfill" | "live" | "stalled";
  /** Why it is stalled; absent otherwise. */
  reason?: string;
  /** The chain's last block, as its nodes say. */
  head_block: number;
  /** The last block whose logs are in the answers; 0 before the first one. */
  indexed_block: number;
  /** The last indexed block that counts as final; 0 before the first one. */
  finalized_block: number;
  /** Seconds between the last indexed block and the head, by their times, and those since the indexer or its nodes were last heard of where they are silent. */
  lag_seconds: number;
  /** Share of the blocks that is indexed, from 0 to 1; 1 only when all are. A rebuild begins at 0 again. */
  progress: number;
  /** Logs indexed a second, lately. */
  logs_per_second: number;
  /** Estimated seconds until it is live; null where it is live, or where there is no estimate. */
  eta_seconds: number | null;
  /** Logs that were left out because they claim too much or contradict themselves. */
  skipped_logs: number;
  /** Extension: how often a block that was the head is no longer on the chain, since the indexer started. */
  reorgs: number;
};

/** Every endpoint, by path and method. */
export type paths = {
  "/v1/contracts": {
    /** Contracts, first seen first. Every contract with an event of its tokens that counts, in the order of their first ones. What turns out to be a currency (ERC-20) is left out, here and everywhere. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: Contract[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/contracts/{contract_address}": {
    /** One contract */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: Contract;
              /** Always null: it is no list. */
              cursor: string | null;
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/tokens/{contract_address}": {
    /** Tokens of a contract, by ascending token id. All that were ever seen, burned ones too. */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
          /** Only these tokens, each id decimal or hex, padded or not: the parameter is repeated for each. Ids that don't exist are left out. */
          tokens_ids?: string[];
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: Token[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/tokens/{contract_address}/{token_id}": {
    /** One token */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
          /** Token id, decimal or hex, padded or not. */
          token_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: Token;
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/tokens/batch": {
    /** Up to 100 tokens of any contracts. Answers in the order of the request; a token asked for twice comes once, an unknown one is left out. Several tokens whose documents have more than 16 MB together are refused with a 400: ask for fewer at a time. */
    post: {
      parameters: { path?: never; query?: never };
      requestBody: {
        content: {
          "application/json": {
            /** 1 to 100 tokens of this network, of any contracts. */
            tokens: {
              /** Address of the contract, in any case. */
              contract_address: string;
              /** Token id, decimal or hex, padded or not. */
              token_id: string;
            }[];
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Those that are known, in the order of the request. */
              result: BatchToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/tokens/{contract_address}/{token_id}/metadata/refresh": {
    /** Asks for the metadata of a token to be fetched again. Answers at once; the fetch comes soon, and `awaiting_metadata_update` of the token is true until it has ended. Once in 600 seconds for each token, by default; earlier requests answer 429. Nothing in the body is read; an empty one may be of any type. */
    post: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
          /** Token id, decimal or hex, padded or not. */
          token_id: string;
        };
        query?: never;
      };
      requestBody?: { content: { "application/json": {} } };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** A confirmation, for people. */
              result: string;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/events/{contract_address}": {
    /** Events of a contract, newest first. By block, place of the log in it and place within the log, all descending. */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: Event[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/events/{contract_address}/{token_id}": {
    /** Events of a token, newest first. In the same order as those of its contract. */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
          /** Token id, decimal or hex, padded or not. */
          token_id: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: Event[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/owners/{account_address}/tokens": {
    /** Tokens that an account holds, by contract and token id */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          account_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
          /** Address of a contract, in any case: only tokens of it. */
          contract_address?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: OwnerToken[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/owners/{account_address}/contracts": {
    /** Contracts of which an account holds a token, by address */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          account_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: Contract[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/v1/owners/{account_address}/all": {
    /** All tokens that an account holds, grouped by contract. `limit` counts tokens. A group that doesn't fit goes on under the same header on the next page. */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          account_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: Holdings[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/token/{contract_address}/{token_id}": {
    /** One token with its best listing */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
          /** Token id, decimal or hex, padded or not. */
          token_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: OrderbookToken;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/tokens/collection/{contract_address}": {
    /** Tokens of a collection with their best listings, by ascending token id */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/v1/tokens/{account_address}": {
    /** Tokens that an account holds with their best listings, by contract and token id. The same list has three paths, `/v1/tokens/…`, `/tokens/…` and `/token/…`, and a cursor of one is good for all. `current_owner` is the account. The best listing may be somebody else's: of another unit of an ERC-1155 token. */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          account_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/tokens/{account_address}": {
    /** Tokens that an account holds with their best listings, by contract and token id. The same list has three paths, `/v1/tokens/…`, `/tokens/…` and `/token/…`, and a cursor of one is good for all. `current_owner` is the account. The best listing may be somebody else's: of another unit of an ERC-1155 token. */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          account_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/token/{account_address}": {
    /** Tokens that an account holds with their best listings, by contract and token id. The same list has three paths, `/v1/tokens/…`, `/tokens/…` and `/token/…`, and a cursor of one is good for all. `current_owner` is the account. The best listing may be somebody else's: of another unit of an ERC-1155 token. */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          account_address: string;
        };
        query?: {
          /** Where to go on: `cursor` of the previous answer, as it is; none for the first page. Opaque, and good for ever, but only for the same network, path and filters, else 400. `limit` may change. */
          cursor?: string;
          /** Items that a page has at most. It may have fewer and still not be the last: it ends before it exceeds 1,048,576 bytes. */
          limit?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins, for the parameter `cursor`, as it is; null where the list ends. */
              cursor: string | null;
              /** Items of this page, in the order of the list; empty where that has none. */
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/token/{contract_address}/{token_id}/offers": {
    /** Extension: offers that stand now on a token or its collection, highest for one unit first. At most 250. Offers in the chain's own currency or its wrapped form come first, then the others by currency. Whether a bidder has the money was asked within the last few seconds. */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
          /** Token id, decimal or hex, padded or not. */
          token_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: OrderbookOffers;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/token/{contract_address}/{token_id}/history": {
    /** Extension: what happened to the orders for a token, newest first. At most 250. It includes sales by orders that were never listed here. */
    get: {
      parameters: {
        path: {
          /** Address of the contract, in any case. */
          contract_address: string;
          /** Token id, decimal or hex, padded or not. */
          token_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: OrderbookHistory;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/orders": {
    /** Extension: takes a signed Seaport order, a listing or an offer. `parameters` and `signature` are what Seaport's own client makes: a signature of a key (65 bytes, or 64 compact), of many orders at once (a bulk order), or of a contract (ERC-1271). Without that client, sign typed data (EIP-712). Its domain has the `name` Seaport, the `version` and the address of the exchange (`verifyingContract`), as 1.6 and `0x0000000000000068f116a894984e2db1123eb395`, and the `chainId` of the main network. The type is `OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)`. `counter` is what the exchange answers to `getCounter(address)` for the maker, 0 until they raised it; `totalOriginalConsiderationItems` is not signed. A key's signature is r, s and v, with a v of 27 or 28. The example is signed by the private key 1, on chain 1: with the same terms and RFC 6979 yours is the same. What the maker gives has to be approved for the exchange, or for the conduit of `conduitKey` where that isn't zero. An order is taken if it could be filled now, or at its `startTime` if that is still to come, also if only a part of it is left. The same order again answers the same hash. Its counter and what was filled of it are read from the exchange. A listing for one account alone, which asks for its own token for that account, is taken and is in no list: `GET /orderbook/orders/{order_hash}` gives it. An order is refused if its token or contract is not indexed, or if a part of it was sold before the first indexed block. For the same token, or for any token of the same contract, a maker may have 100 orders that stand and 1,000 that have not reached their end time, filled and cancelled ones included; 10,000 of these for everything together. Of all makers' listings of one token, the cheapest 1,000 that stand are kept; of offers in one currency that is not the chain's own, the highest 1,000, and of all offers for the same, the highest 5,000. A client address may send 600 orders a minute, taken or not. */
    post: {
      parameters: { path?: never; query?: never };
      requestBody: { content: { "application/json": SignedOrder } };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** The order that is listed now. */
              result: {
                /** Hash of the order, by which `GET /orderbook/orders/{order_hash}` gives it. */
                order_hash: string;
              };
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/orderbook/orders/{order_hash}": {
    /** Extension: a signed order, with what it takes to fill it. An order that was sent to `POST /orderbook/orders`: `parameters` and `signature` are what Seaport and its client take to fill it. Orders that their makers put on the chain are not here; their terms are in the chain's logs. */
    get: {
      parameters: {
        path: {
          /** Hash of the order, in any case. */
          order_hash: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: FillableOrder;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/marketplace/collections": {
    /** Collections of the main network, those with most tokens first. By the number of tokens that somebody holds, as counted a moment ago, then by address. Those whose tokens nobody holds come last. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** Number of the page. One past the end is empty. */
          page?: number;
          /** Items that a page has at most. All pages of a walk want the same number. */
          items_per_page?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Items of this page, in the order of the list; empty past the end. */
              data: Collection[];
              /** All that there are, not just of this page. */
              collection_count: number;
              /** The next page's number, for the parameter `page`; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/marketplace/collections/{address}/{chain_id}": {
    /** One collection */
    get: {
      parameters: {
        path: {
          /** Address of the collection, in any case. */
          address: string;
          /** Chain id of the main network or of the test network, decimal or hex. */
          chain_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: Collection;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/marketplace/portfolio/{user_address}/collections": {
    /** Collections of the main network of which an account holds a token, those with most tokens first. By the number of tokens that somebody holds, as counted a moment ago, then by address. For an account with more than 1,000 tokens, those of hidden contracts counted, or listings, fillable or not, all of it is as of a moment ago. */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          user_address: string;
        };
        query?: {
          /** Number of the page. One past the end is empty. */
          page?: number;
          /** Items that a page has at most. All pages of a walk want the same number. */
          items_per_page?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Items of this page, in the order of the list; empty past the end. */
              data: PortfolioCollection[];
              /** All that there are, not just of this page. */
              collection_count: number;
              /** The next page's number, for the parameter `page`; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/marketplace/collections/{address}/{chain_id}/tokens": {
    /** Extension: tokens of a collection that somebody holds, with what they cost. Lists of more than 1,000 tokens, burned ones and those of hidden contracts counted, are in the order of a moment ago, and so are those by price or of what is on sale for which there are more than 1,000 listings, fillable or not; what is said of each token is of this second. */
    get: {
      parameters: {
        path: {
          /** Address of the collection, in any case. */
          address: string;
          /** Chain id of the main network or of the test network, decimal or hex. */
          chain_id: string;
        };
        query?: {
          /** Number of the page. One past the end is empty. */
          page?: number;
          /** Items that a page has at most. All pages of a walk want the same number. */
          items_per_page?: number;
          /** `true`: only what is on sale, in whichever currency. `false`: all. */
          buy_now?: boolean;
          /** `price`: by what one unit costs now, those in other currencies than the chain's own behind the others, those that aren't on sale last. By default by address of the contract and token id, ascending. */
          sort?: "price";
          /** Of the price: `asc` the lowest first, `desc` the highest first. Without `sort` it does nothing. */
          direction?: "asc" | "desc";
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Items of this page, in the order of the list; empty past the end. */
              data: CollectionToken[];
              /** All that there are, not just of this page. */
              token_count: number;
              /** The next page's number, for the parameter `page`; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/marketplace/portfolio/{user_address}": {
    /** Extension: tokens of the main network that an account holds, with what it asks and others offer for them. Lists of more than 1,000 tokens, burned ones and those of hidden contracts counted, are in the order of a moment ago, and so are those by price or of what is on sale for which there are more than 1,000 listings, fillable or not; what is said of each token is of this second. */
    get: {
      parameters: {
        path: {
          /** Address of the account, in any case. One that holds nothing has an empty list, and so has the zero address. */
          user_address: string;
        };
        query?: {
          /** Number of the page. One past the end is empty. */
          page?: number;
          /** Items that a page has at most. All pages of a walk want the same number. */
          items_per_page?: number;
          /** `true`: only what is on sale, in whichever currency. `false`: all. */
          buy_now?: boolean;
          /** `price`: by what one unit costs now, those in other currencies than the chain's own behind the others, those that aren't on sale last. By default by address of the contract and token id, ascending. */
          sort?: "price";
          /** Of the price: `asc` the lowest first, `desc` the highest first. Without `sort` it does nothing. */
          direction?: "asc" | "desc";
          /** Address of a collection, in any case: only tokens of it. */
          collection?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Items of this page, in the order of the list; empty past the end. */
              data: PortfolioToken[];
              /** All that there are, not just of this page. */
              token_count: number;
              /** The next page's number, for the parameter `page`; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/keys": {
    /** Registers an API key. Up to 20 an hour for each client address. */
    post: {
      parameters: { path?: never; query?: never };
      requestBody: {
        content: {
          "application/json": {
            /** What the key is for, as the list of keys shows it: one line without control characters. White space around it is cut off, and doesn't count. */
            name: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: NewKey;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        403: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/health": {
    /** 200 while the process lives */
    get: {
      parameters: { path?: never; query?: never };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Always `ok`. */
              status: string;
            };
          };
        };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/ready": {
    /** 200 once requests can be answered from indexed data. 503 before that, without a database, and once the process was told to end. */
    get: {
      parameters: { path?: never; query?: never };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Always `ready`. */
              status: string;
            };
          };
        };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/status": {
    /** How far the networks are indexed, and how the fetching of metadata goes. As this process saw it within the last second, and without asking the database: it answers when that is gone. */
    get: {
      parameters: { path?: never; query?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": Status } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
  "/media/{key}": {
    /** Media of tokens, by key. `image_key` and `animation_key` of normalized metadata are keys. Content never changes under its key. Pages and drawings come in a sandbox without scripts; what a browser shouldn't show by itself is a download. Where `accept` names `text/html`, as browsers do for what they show by itself, an error is a page. */
    get: {
      parameters: {
        path: {
          /** SHA-256 of the content in hex, a dot, and the extension of its type. */
          key: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "image/*": string; "*/*": unknown } };
        206: { headers: { [name: string]: unknown }; content: { "image/*": string; "*/*": unknown } };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        416: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": ErrorBody } };
      };
    };
  };
};
