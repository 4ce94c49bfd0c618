/**
 * Written by `npm run client` out of the OpenAPI document. Not for editing.
 */

export type Contract = {
  contract_address: string;
  contract_type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
  /** Empty where the contract has none. */
  name: string;
  /** Empty where the contract has none. */
  symbol: string;
  image: string | null;
};

export type Error = {
  /** Whose fault it is: the request's, or ours. */
  type: "invalid_request" | "api_error";
  /** What is wrong, and what is accepted. */
  message: string;
};

export type Token = {
  contract_address: string;
  /** Decimal. */
  token_id: string;
  /** 0x and 64 hex digits. */
  token_id_hex: string;
  /** The zero address when an ERC-721 token is burned. Of several holders of an ERC-1155 token the one that received last; empty when nobody holds it. */
  owner: string;
  mint_info: {
    /** Receiver of the first transfer from the zero address. */
    address: string | null;
    timestamp: number | null;
    transaction_hash: string | null;
  };
  metadata: Metadata;
  type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
};

export type Metadata = {
  normalized: NormalizedMetadata;
  /** The document as it was fetched; empty before the first fetch. */
  raw: string;
  /** Unix seconds of the last fetch that succeeded; null before it. */
  metadata_updated_at: number | null;
};

export type NormalizedMetadata = {
  image_mime_type: string;
  image_key: string;
  image: string;
  image_data: string;
  external_url: string;
  description: string;
  name: string;
  attributes: {
    display_type: string | null;
    trait_type: string;
    /** Always a text: numbers keep the digits of the source. */
    value: string;
  }[];
  properties:
    | {
        name: string | null;
        value: string | null;
        type: string | null;
        description: string | null;
      }[]
    | null;
  background_color: string;
  animation_url: string;
  animation_key: string;
  animation_mime_type: string;
  youtube_url: string;
};

export type BatchToken = {
  contract_address: string;
  /** Decimal. */
  token_id: string;
  /** 0x and 64 hex digits. */
  token_id_hex: string;
  /** The zero address when an ERC-721 token is burned. Of several holders of an ERC-1155 token the one that received last; empty when nobody holds it. */
  owner: string;
  mint_info: {
    /** Receiver of the first transfer from the zero address. */
    address: string | null;
    timestamp: number | null;
    transaction_hash: string | null;
    block_number: number | null;
  };
  metadata: Metadata;
  type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
  contract_name: string;
  awaiting_metadata_update: boolean;
};

export type Event = {
  contract_address: string;
  contract_type: "ERC721" | "ERC1155" | "CRYPTOPUNKS";
  /** `<transaction_hash>-<log_index>-<batch_index>`: the same after every rebuild. */
  event_id: string;
  event_type: "mint" | "transfer" | "burn" | "sale";
  /** The zero address on a mint, the seller on a sale. */
  from_address: string;
  /** The zero address on a burn, the buyer on a sale. */
  to_address: string;
  timestamp: number;
  token_id: string;
  token_id_hex: string;
  transaction_hash: string;
  /** Extension: units moved, decimal. */
  quantity: string;
  /** Extension. */
  block_number: number;
  /** Extension: place of the log in its block. */
  log_index: number;
  /** Extension, of a sale: for all units of this event, in the smallest unit. Null: see `price_note`. */
  price?: string | null;
  /** Extension, of a sale: the zero address is the chain's own currency. */
  currency_address?: string | null;
  /** Extension, of a sale: why it has no price (`barter`, `several currencies`, `unknown currency`, `unknown bid`, `out of range`), or `bundle`: the price is a share, by units, of one total for several tokens. */
  price_note?: string | null;
  /** Extension, of a sale: the exchange's name. */
  marketplace?: string;
  /** Extension, of a sale: its first fee recipient that isn't the seller, else the exchange's contract. */
  broker?: string;
};

export type OwnerToken = {
  contract_address: string;
  token_id: string;
  token_id_hex: string;
  /** The account asked for. */
  owner: string;
  block_number_minted: string | null;
  token_uri: string;
  /** Of the contract. */
  name: string;
  /** Of the contract. */
  symbol: string;
  /** The document as it was fetched. */
  metadata: string;
  /** NormalizedMetadata as JSON text. */
  normalized_metadata: string;
  /** Unix seconds. */
  last_metadata_refresh: number | null;
  minter_address: string | null;
  mint_transaction_hash: string | null;
  /** Extension: units held, decimal; 1 for ERC-721. */
  balance: string;
};

export type Holdings = {
  contract_address: string;
  contract_name: string;
  contract_symbol: string;
  contract_image: string | null;
  items: {
    token_id: string;
    /** The account asked for. */
    owner: string;
    mint_info: {
      /** Receiver of the first transfer from the zero address. */
      address: string | null;
      timestamp: number | null;
      transaction_hash: string | null;
      block_number: number | null;
    };
    metadata: Metadata;
    awaiting_metadata_update: boolean;
  }[];
};

export type OrderbookToken = {
  /** Hex. */
  token_chain_id: string;
  contract_address: string;
  /** 0x and 64 hex digits. */
  token_id: string;
  current_owner: string;
  /** Unix seconds. */
  listed_timestamp: string;
  /** Unix seconds of the last event of the token or its listing. */
  updated_timestamp: string;
  /** What one unit costs now, in the smallest unit of the currency, rounded up. */
  current_price: string;
  /** Units for sale; of a token that isn't listed, units that the owner holds. */
  quantity: string;
  /** What was asked for one unit at the start. */
  start_amount: string;
  /** What will be asked at the end, where the price changes with time. */
  end_amount: string;
  /** Unix seconds. */
  start_date: string;
  /** Unix seconds. */
  end_date: string;
  /** The first fee recipient that isn't the seller, else the exchange's contract. */
  broker_id: string;
  /** A listing exists that could be filled now. */
  is_listed: "true" | "false";
  /** An offer on the token or on its collection stands now. */
  has_offer: "true" | "false";
  /** Extension: the zero address is the chain's own currency. */
  currency_address: string;
  /** Extension. */
  order_hash: string;
  /** Extension: the name of the exchange. */
  exchange: string;
};

export type OrderbookOffers = {
  contract_address: string;
  /** 0x and 64 hex digits. */
  token_id: string;
  current_owner: string;
  /** What one unit costs now, in the smallest unit of the currency, rounded up. */
  current_price: string;
  offers: {
    offer_maker: string;
    /** For all units, in the smallest unit of the currency. */
    offer_amount: string;
    offer_quantity: string;
    offer_timestamp: number;
    /** Extension: the zero address is the chain's own currency. */
    currency_address: string;
  }[];
};

export type OrderbookHistory = {
  contract_address: string;
  /** 0x and 64 hex digits. */
  token_id: string;
  current_owner: string;
  history: {
    /** Auction: a listing whose price falls with time, Seaport's. Auctions with bids are seen when they end, as listings that were bought. */
    event_type: "Listing" | "Auction" | "Offer" | "CollectionOffer";
    event_timestamp: number;
    /** FULFILLED: a listing was bought. EXECUTED: an offer was accepted. */
    order_status: "PLACED" | "FULFILLED" | "CANCELLED" | "EXECUTED";
    /** Of a listing its maker. */
    previous_owner: string;
    /** Of an offer its maker; of what was bought, who has it since. */
    new_owner: string;
    /** For all units, in the smallest unit of the currency; 0 where nobody can say what a sale cost. */
    amount: string;
    /** Null where it isn't cancelled. `counter raised on chain`: its maker ended all that they had signed for the exchange. */
    canceled_reason: "cancelled on chain" | "counter raised on chain" | null;
    /** Extension: the zero address is the chain's own currency; empty where nobody can say what a sale cost. */
    currency_address: string;
  }[];
};

export type SignedOrder = {
  parameters: {
    offerer: string;
    zone: string;
    offer: {
      itemType: number;
      token: string;
      identifierOrCriteria: string;
      startAmount: string;
      endAmount: string;
    }[];
    consideration: {
      itemType: number;
      token: string;
      identifierOrCriteria: string;
      startAmount: string;
      endAmount: string;
      recipient: string;
    }[];
    orderType: number;
    startTime: string;
    endTime: string;
    zoneHash: string;
    salt: string;
    conduitKey: string;
    counter?: string;
    totalOriginalConsiderationItems?: string;
  };
  signature: string;
  /** The Seaport that the order was signed for; by default the one that the signature fits. */
  exchange_address?: string;
};

export type FillableOrder = {
  order_hash: string;
  /** The Seaport that it was signed for. */
  exchange_address: string;
  /** When it was sent here. Unix seconds. */
  placed_timestamp: number;
  /** What is left of it could be filled now: by the same rules as lists have, with what a bidder has as of the last few seconds. */
  is_fillable: boolean;
  /** As Seaport and its client take them. */
  parameters: {
    offerer: string;
    zone: string;
    offer: {
      itemType: number;
      token: string;
      identifierOrCriteria: string;
      startAmount: string;
      endAmount: string;
    }[];
    consideration: {
      itemType: number;
      token: string;
      identifierOrCriteria: string;
      startAmount: string;
      endAmount: string;
      recipient: string;
    }[];
    orderType: number;
    startTime: string;
    endTime: string;
    zoneHash: string;
    salt: string;
    conduitKey: string;
    counter: string;
    totalOriginalConsiderationItems: number;
  };
  signature: string;
};

export type Collection = {
  /** Its contract's address. */
  collection_id: string;
  collection_name: string;
  collection_description: string;
  collection_image: string;
};

export type PortfolioCollection = {
  address: string;
  image: string;
  collection_name: string;
  /** The lowest ask that could be taken now, in whole units of the chain's currency. */
  floor: number | null;
  /** Tokens that somebody holds, each once. */
  token_count: number;
  user_token_count: number;
  /** Tokens that the account has on sale. */
  user_listed_tokens: number;
  is_verified: boolean;
};

export type CollectionToken = {
  contract: string;
  /** Decimal. */
  token_id: string;
  /** What one unit was sold for last; bundles and other currencies are left out. In whole units of the chain's currency. */
  last_price: number | null;
  /** By how many percent the price is above the collection's floor, rounded to two decimals. */
  floor_difference: number | null;
  /** When the best listing was placed; null where nothing is on sale. Unix seconds. */
  listed_at: number | null;
  owner: string;
  /** Null where no mint was seen. Unix seconds. */
  minted_at: number | null;
  /** The last event of the token or its listing. Unix seconds. */
  updated_at: number;
  /** What a buyer pays now for one unit; null where it isn't on sale, or only in another currency. In whole units of the chain's currency. */
  price: number | null;
  /** Extension: the exact price, in the smallest unit of its currency; empty where there is none. */
  amount: string;
  /** Extension: the zero address is the chain's own currency; empty where there is no price. */
  currency_address: string;
  metadata: {
    name: string;
    description: string;
    image: string;
  };
};

export type PortfolioToken = {
  contract: string;
  /** Decimal. */
  token_id: string;
  /** What the account asks now for one unit; null where it doesn't, or only in another currency. In whole units of the chain's currency. */
  list_price: number | null;
  /** The highest offer of others for one unit, those for any token of the collection counted too. In whole units of the chain's currency. */
  best_offer: number | null;
  /** The collection's lowest ask. In whole units of the chain's currency. */
  floor: number | null;
  /** When the account received it last. Unix seconds. */
  received_at: number | null;
  /** Extension: units that the account holds. */
  balance: string;
  /** Extension: the exact price, in the smallest unit of its currency; empty where there is none. */
  amount: string;
  /** Extension: the zero address is the chain's own currency; empty where there is no price. */
  currency_address: string;
  metadata: {
    name: string;
    description: string;
    image: string;
  };
};

export type NewKey = {
  /** Shown this once: only its hash is stored. */
  key: string;
  /** By which it is listed and revoked. */
  prefix: string;
  name: string;
};

export type Status = {
  networks: {
    mainnet?: NetworkStatus;
    testnet?: NetworkStatus;
  };
  metadata: {
    tokens: number;
    fetched: number;
    waiting: number;
    failing: number;
    fetches_per_second: number;
    oldest_due_seconds: number | null;
    /** Extension: tokens that fail now, by reason and host, the most first. */
    failures: {
      code: string;
      host: string;
      tokens: number;
    }[];
    /** Extension: workers that have reported lately. */
    workers: number;
  };
};

export type NetworkStatus = {
  chain_id: number;
  state: "backfill" | "live" | "stalled";
  /** Why it is stalled. */
  reason?: string;
  head_block: number;
  /** Every log up to it is in the answers. */
  indexed_block: number;
  finalized_block: number;
  lag_seconds: number;
  progress: number;
  logs_per_second: number;
  eta_seconds: number | null;
  skipped_logs: number;
  /** Extension: how often a block that was the head is no longer on the chain, since the indexer started. */
  reorgs: number;
};

/** Every endpoint, by path and method. */
export type paths = {
  "/v1/contracts": {
    /** Contracts, first seen first */
    get: {
      parameters: { path?: never; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: Contract[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/contracts/{contract_address}": {
    /** One contract */
    get: {
      parameters: { path: { contract_address: string }; query?: never };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: Contract;
              cursor: null;
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/tokens/{contract_address}": {
    /** Tokens of a contract, by ascending token id */
    get: {
      parameters: {
        path: { contract_address: string };
        query?: { cursor?: string; limit?: number; tokens_ids?: string[] };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: Token[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/tokens/{contract_address}/{token_id}": {
    /** One token */
    get: {
      parameters: { path: { contract_address: string; token_id: string }; query?: never };
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/tokens/batch": {
    /** Up to 100 tokens of any contracts */
    post: {
      parameters: { path?: never; query?: never };
      requestBody: {
        content: {
          "application/json": {
            tokens: {
              contract_address: string;
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
              result: BatchToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/tokens/{contract_address}/{token_id}/metadata/refresh": {
    /** Asks for the metadata of a token to be fetched again */
    post: {
      parameters: { path: { contract_address: string; token_id: string }; query?: never };
      requestBody?: { content: { "application/json": {} } };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: string;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/events/{contract_address}": {
    /** Events of a contract, newest first */
    get: {
      parameters: { path: { contract_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: Event[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/events/{contract_address}/{token_id}": {
    /** Events of a token, newest first */
    get: {
      parameters: { path: { contract_address: string; token_id: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: Event[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/owners/{account_address}/tokens": {
    /** Tokens that an account holds, by contract and token id */
    get: {
      parameters: {
        path: { account_address: string };
        query?: { cursor?: string; limit?: number; contract_address?: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: OwnerToken[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/owners/{account_address}/contracts": {
    /** Contracts of which an account holds a token, by address */
    get: {
      parameters: { path: { account_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: Contract[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/v1/owners/{account_address}/all": {
    /** All tokens that an account holds, grouped by contract */
    get: {
      parameters: { path: { account_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: Holdings[];
            };
          };
        };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        401: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/token/{contract_address}/{token_id}": {
    /** One token with its best listing */
    get: {
      parameters: { path: { contract_address: string; token_id: string }; query?: never };
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/tokens/collection/{contract_address}": {
    /** Tokens of a collection with their best listings, by ascending token id */
    get: {
      parameters: { path: { contract_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/v1/tokens/{account_address}": {
    /** Tokens that an account holds with their best listings, by contract and token id */
    get: {
      parameters: { path: { account_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/tokens/{account_address}": {
    /** Tokens that an account holds with their best listings, by contract and token id */
    get: {
      parameters: { path: { account_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/token/{account_address}": {
    /** Tokens that an account holds with their best listings, by contract and token id */
    get: {
      parameters: { path: { account_address: string }; query?: { cursor?: string; limit?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              /** Where the next page begins; null where the list ends. */
              cursor: string | null;
              result: OrderbookToken[];
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/token/{contract_address}/{token_id}/offers": {
    /** Extension: offers that stand now on a token or its collection, highest first */
    get: {
      parameters: { path: { contract_address: string; token_id: string }; query?: never };
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/token/{contract_address}/{token_id}/history": {
    /** Extension: what became of the orders for a token, newest first */
    get: {
      parameters: { path: { contract_address: string; token_id: string }; query?: never };
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/orders": {
    /** Extension: lists a signed Seaport order */
    post: {
      parameters: { path?: never; query?: never };
      requestBody: { content: { "application/json": SignedOrder } };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              result: {
                order_hash: string;
              };
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/orderbook/orders/{order_hash}": {
    /** Extension: a signed order, with what it takes to fill it */
    get: {
      parameters: { path: { order_hash: string }; query?: never };
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/marketplace/collections": {
    /** Collections of the main network, those with most tokens first */
    get: {
      parameters: { path?: never; query?: { page?: number; items_per_page?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: Collection[];
              /** All that there are, not just of this page. */
              collection_count: number;
              /** The next page's number; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/marketplace/collections/{address}/{chain_id}": {
    /** One collection */
    get: {
      parameters: { path: { address: string; chain_id: string }; query?: never };
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/marketplace/portfolio/{user_address}/collections": {
    /** Collections of the main network of which an account holds a token, those with most tokens first */
    get: {
      parameters: { path: { user_address: string }; query?: { page?: number; items_per_page?: number } };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: PortfolioCollection[];
              /** All that there are, not just of this page. */
              collection_count: number;
              /** The next page's number; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/marketplace/collections/{address}/{chain_id}/tokens": {
    /** Extension: tokens of a collection that somebody holds, with what they cost */
    get: {
      parameters: {
        path: { address: string; chain_id: string };
        query?: {
          page?: number;
          items_per_page?: number;
          buy_now?: "true" | "false";
          sort?: "price";
          direction?: "asc" | "desc";
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: CollectionToken[];
              /** All that there are, not just of this page. */
              token_count: number;
              /** The next page's number; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/marketplace/portfolio/{user_address}": {
    /** Extension: tokens of the main network that an account holds, with what it asks and others offer for them */
    get: {
      parameters: {
        path: { user_address: string };
        query?: {
          page?: number;
          items_per_page?: number;
          buy_now?: "true" | "false";
          sort?: "price";
          direction?: "asc" | "desc";
          collection?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: PortfolioToken[];
              /** All that there are, not just of this page. */
              token_count: number;
              /** The next page's number; null on the last one. */
              next_page: number | null;
            };
          };
        };
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/keys": {
    /** Registers an API key */
    post: {
      parameters: { path?: never; query?: never };
      requestBody: {
        content: {
          "application/json": {
            /** What the key is for, as the list of keys shows it. */
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
        400: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        403: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        413: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        414: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        415: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
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
              status: string;
            };
          };
        };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/ready": {
    /** 200 once requests can be answered from indexed data */
    get: {
      parameters: { path?: never; query?: never };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              status: string;
            };
          };
        };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        503: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/status": {
    /** How far the networks are indexed, and how the fetching of metadata goes */
    get: {
      parameters: { path?: never; query?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": Status } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
  "/media/{key}": {
    /** Media of tokens, by key */
    get: {
      parameters: { path: { key: string }; query?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "*/*": unknown } };
        206: { headers: { [name: string]: unknown }; content: { "*/*": unknown } };
        304: { headers: { [name: string]: unknown }; content: { [mediaType: string]: never } };
        404: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        416: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        429: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
        500: { headers: { [name: string]: unknown }; content: { "application/json": Error } };
      };
    };
  };
};
