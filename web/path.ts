import type { Network } from "../config.ts";

/** Paths of pages. They never change, so that bookmarks keep working. */

/** What stands for the parts of a path where a page is declared, as Hono writes it; elsewhere these are of a row. */
export const PARAMETERS = {
  network: ":network",
  contract_address: ":contract",
  token_id: ":token",
  account_address: ":account",
} as const;
type NetworkPart = Network | typeof PARAMETERS.network;

export const HOME_PATH = "/";
export const STATUS_PATH = "/explorer/status";
export const KEYS_PATH = "/explorer/keys";
export const KEY_USE_PATH = "/explorer/keys/use";
export const SEARCH_PATH = "/explorer/search";
export const PULSE_PATH = "/explorer/pulse";
export const DOCS_PATH = "/docs";

/** The columns of a row that say which collection it is of. */
type Place = { network: NetworkPart; contract_address: string };

export const collectionsPath = (network: NetworkPart) => `/explorer/collections/${network}`;
export const newestPath = (network: NetworkPart) => `/explorer/events/${network}`;

/** The tabs of a collection's page; empty is the first one. */
export type CollectionView = "" | "listed" | "events";
export const collectionPath = ({ network, contract_address }: Place, view: CollectionView = "") =>
  `/explorer/collection/${network}/${contract_address}${view && `/${view}`}`;

type TokenView = "" | "owners" | "offers" | "orders" | "events" | "refresh";
/** A token's page in one of its views; `refresh` is where its form is sent. */
export const tokenPath = (
  { network, contract_address, token_id }: Place & { token_id: string },
  view: TokenView = "",
) => `/explorer/token/${network}/${contract_address}/${token_id}${view && `/${view}`}`;

/** The tabs of an account's page; empty is the first one. */
export type AccountView = "" | "listed" | "events";
export const accountPath = (
  { network, account_address }: { network: NetworkPart; account_address: string },
  view: AccountView = "",
) => `/explorer/account/${network}/${account_address}${view && `/${view}`}`;

/** A path with query parameters; undefined ones are left out. */
export const withQuery = (path: string, query: Record<string, string | undefined>): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};
