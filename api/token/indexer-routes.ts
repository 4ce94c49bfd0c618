import { z } from "@hono/zod-openapi";
import { DEFAULTS } from "../defaults.ts";
import { list, pageOf, text } from "../http/field.ts";
import { Contract } from "./contract.ts";
import { Event } from "./event.ts";
import {
  ACCOUNT,
  CONTRACT,
  contract,
  CURSOR,
  event,
  metadata,
  mint,
  normalized,
  raw,
  sale,
  token,
  TOKEN_ID_HEX,
  TRANSACTION,
} from "./indexer-example.ts";
import { BatchBody, MAX_BATCH, OwnerTokensQuery, TokensQuery } from "./indexer-query.ts";
import { Holdings, OwnerToken } from "./owner-token.ts";
import { AccountParams, ContractParams, PageQuery, TokenParams } from "../http/parameter.ts";
import { defineRoute } from "../http/route.ts";
import { BatchToken, Token } from "./token.ts";
import { MAX_BATCH_BYTES } from "./token-lookup.ts";

const BATCH_MB = MAX_BATCH_BYTES / 2 ** 20;
const { refreshCooldownSeconds } = DEFAULTS;
const NO_NETWORK = "this network is not configured";
const indexer = { tag: "Indexer", needsKey: true, meanings: { 404: "This network is not configured." } } as const;
const ofContract = { errors: [404], meanings: { 404: `The contract is unknown, or ${NO_NETWORK}.` } };
const ofToken = { errors: [404], meanings: { 404: `The token is unknown, or ${NO_NETWORK}.` } };

export const listContractsRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/contracts",
  operationId: "listContracts",
  summary: "Contracts, first seen first",
  description:
    "Every contract with an event of its tokens that counts, in the order of their first ones. What turns out to be a " +
    "currency (ERC-20) is left out, here and everywhere.",
  query: PageQuery,
  answer: pageOf(Contract),
  example: { cursor: CURSOR, result: [contract] },
  errors: [],
});

export const getContractRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/contracts/{contract_address}",
  operationId: "getContract",
  summary: "One contract",
  params: ContractParams,
  answer: z.strictObject({
    result: Contract,
    cursor: text("Always null: it is no list.").nullable(),
  }),
  example: { result: contract, cursor: null },
  ...ofContract,
});

export const listTokensRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/tokens/{contract_address}",
  operationId: "listTokens",
  summary: "Tokens of a contract, by ascending token id",
  description: "All that were ever seen, burned ones too.",
  params: ContractParams,
  query: TokensQuery,
  answer: pageOf(Token),
  example: { cursor: CURSOR, result: [token] },
  ...ofContract,
});

export const getTokenRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/tokens/{contract_address}/{token_id}",
  operationId: "getToken",
  summary: "One token",
  params: TokenParams,
  answer: z.strictObject({ result: Token }),
  example: { result: token },
  ...ofToken,
});

export const batchTokensRoute = defineRoute({
  ...indexer,
  method: "post",
  path: "/v1/tokens/batch",
  operationId: "batchTokens",
  summary: `Up to ${MAX_BATCH} tokens of any contracts`,
  description:
    "Answers in the order of the request; a token asked for twice comes once, an unknown one is left out. " +
    `Several tokens whose documents have more than ${BATCH_MB} MB together are refused with a 400: ask for fewer at a time.`,
  body: BatchBody,
  bodyExample: { tokens: [{ contract_address: CONTRACT, token_id: "42" }] },
  answer: z.strictObject({ result: list(BatchToken, "Those that are known, in the order of the request.") }),
  example: {
    result: [
      {
        ...token,
        mint_info: { ...mint, block_number: 18_500_000 },
        contract_name: "Example Apes",
        awaiting_metadata_update: false,
      },
    ],
  },
  errors: [413, 415],
  meanings: {
    ...indexer.meanings,
    400: `The body is malformed, or the documents of its tokens have more than ${BATCH_MB} MB together.`,
  },
});

/** The answer to a refresh that is taken. */
export const QUEUED = "The token is queued and its metadata will be updated soon.";

export const refreshMetadataRoute = defineRoute({
  ...indexer,
  method: "post",
  path: "/v1/tokens/{contract_address}/{token_id}/metadata/refresh",
  operationId: "refreshMetadata",
  summary: "Asks for the metadata of a token to be fetched again",
  description:
    "Answers at once; the fetch comes soon, and `awaiting_metadata_update` of the token is true until it has ended. Once " +
    `in ${refreshCooldownSeconds} seconds for each token, by default; earlier requests answer 429. Nothing in the body is ` +
    "read; an empty one may be of any type.",
  params: TokenParams,
  body: "empty",
  answer: z.strictObject({ result: text("A confirmation, for people.") }),
  example: { result: QUEUED },
  errors: [404, 413, 415],
  meanings: {
    ...ofToken.meanings,
    429: `The rate limit is reached, or the token's metadata was asked for less than ${refreshCooldownSeconds} seconds ago, by default.`,
  },
});

export const listContractEventsRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/events/{contract_address}",
  operationId: "listContractEvents",
  summary: "Events of a contract, newest first",
  description: "By block, place of the log in it and place within the log, all descending.",
  params: ContractParams,
  query: PageQuery,
  answer: pageOf(Event),
  example: { cursor: CURSOR, result: [event] },
  ...ofContract,
});

export const listTokenEventsRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/events/{contract_address}/{token_id}",
  operationId: "listTokenEvents",
  summary: "Events of a token, newest first",
  description: "In the same order as those of its contract.",
  params: TokenParams,
  query: PageQuery,
  answer: pageOf(Event),
  example: { cursor: null, result: [sale, event] },
  ...ofToken,
});

export const listOwnerTokensRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/owners/{account_address}/tokens",
  operationId: "listOwnerTokens",
  summary: "Tokens that an account holds, by contract and token id",
  params: AccountParams,
  query: OwnerTokensQuery,
  answer: pageOf(OwnerToken),
  example: {
    cursor: CURSOR,
    result: [
      {
        contract_address: CONTRACT,
        token_id: "42",
        token_id_hex: TOKEN_ID_HEX,
        owner: ACCOUNT,
        block_number_minted: "18500000",
        token_uri: "ipfs://QmExample/42",
        name: "Example Apes",
        symbol: "APE",
        metadata: raw,
        normalized_metadata: JSON.stringify(normalized),
        last_metadata_refresh: 1_700_000_100,
        minter_address: ACCOUNT,
        mint_transaction_hash: TRANSACTION,
        balance: "1",
      },
    ],
  },
  errors: [],
});

export const listOwnerContractsRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/owners/{account_address}/contracts",
  operationId: "listOwnerContracts",
  summary: "Contracts of which an account holds a token, by address",
  params: AccountParams,
  query: PageQuery,
  answer: pageOf(Contract),
  example: { cursor: null, result: [contract] },
  errors: [],
});

export const listHoldingsRoute = defineRoute({
  ...indexer,
  method: "get",
  path: "/v1/owners/{account_address}/all",
  operationId: "listHoldings",
  summary: "All tokens that an account holds, grouped by contract",
  description: "`limit` counts tokens. A group that doesn't fit goes on under the same header on the next page.",
  params: AccountParams,
  query: PageQuery,
  answer: pageOf(Holdings),
  example: {
    cursor: null,
    result: [
      {
        contract_address: CONTRACT,
        contract_name: "Example Apes",
        contract_symbol: "APE",
        contract_image: null,
        items: [
          {
            token_id: "42",
            owner: ACCOUNT,
            mint_info: { ...mint, block_number: 18_500_000 },
            metadata,
            awaiting_metadata_update: false,
          },
        ],
      },
    ],
  },
  errors: [],
});

/** The routes of the Indexer API, in the specification's order. */
export const INDEXER_ROUTES = [
  listContractsRoute,
  getContractRoute,
  listTokensRoute,
  getTokenRoute,
  batchTokensRoute,
  refreshMetadataRoute,
  listContractEventsRoute,
  listTokenEventsRoute,
  listOwnerTokensRoute,
  listOwnerContractsRoute,
  listHoldingsRoute,
] as const;
