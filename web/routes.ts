import type { Context } from "hono";
import type { Env } from "../api/http/request-state.ts";
import { renderAccountPage } from "./account-page.ts";
import { renderCollection } from "./collection-page.ts";
import { renderAllCollections } from "./collections-page.ts";
import { renderNewest } from "./events-page.ts";
import { renderHome } from "./home-page.ts";
import type { Page } from "./html.ts";
import { renderKeys } from "./keys-page.ts";
import {
  accountPath,
  type AccountView,
  collectionPath,
  collectionsPath,
  type CollectionView,
  HOME_PATH,
  KEYS_PATH,
  newestPath,
  PARAMETERS,
  SEARCH_PATH,
  STATUS_PATH,
  tokenPath,
} from "./path.ts";
import { type Explorer, listReaders, paramOf, readAddress, readerOf, tokenOf } from "./reader.ts";
import { search } from "./search.ts";
import { renderStatus } from "./status-page.ts";
import { renderTokenListPage, TOKEN_LISTS } from "./token-list.ts";
import { renderToken } from "./token-page.ts";

type Render = (
  explorer: Explorer,
  c: Context<Env>,
) => Promise<Page | { redirect: string }> | Page | { redirect: string };

const cursorOf = (c: Context<Env>) => c.req.query("cursor");

const collection =
  (view: CollectionView): Render =>
  (explorer, c) =>
    renderCollection(explorer, readerOf(explorer, c), {
      contractAddress: readAddress(paramOf(c, "contract")),
      view,
      cursor: cursorOf(c),
    });

const account =
  (view: AccountView): Render =>
  (explorer, c) => {
    const contract = c.req.query("contract");
    return renderAccountPage(readerOf(explorer, c), {
      accountAddress: readAddress(paramOf(c, "account")),
      contractAddress: contract === undefined ? undefined : readAddress(contract),
      view,
      cursor: cursorOf(c),
      networks: listReaders(explorer).map(({ network }) => network),
    });
  };

/** Every page by its path. */
export const PAGES: readonly (readonly [path: string, render: Render])[] = [
  [HOME_PATH, renderHome],
  ["/explorer", () => ({ redirect: HOME_PATH })],
  [STATUS_PATH, renderStatus],
  [KEYS_PATH, (explorer, c) => renderKeys(explorer, { origin: new URL(c.req.url).origin })],
  [SEARCH_PATH, (explorer, c) => search(explorer, c.req.query("q") ?? "")],
  [
    collectionsPath(PARAMETERS.network),
    (explorer, c) => renderAllCollections(readerOf(explorer, c), { cursor: cursorOf(c) }),
  ],
  [newestPath(PARAMETERS.network), (explorer, c) => renderNewest(readerOf(explorer, c), { cursor: cursorOf(c) })],
  [collectionPath(PARAMETERS), collection("")],
  [collectionPath(PARAMETERS, "listed"), collection("listed")],
  [collectionPath(PARAMETERS, "events"), collection("events")],
  [tokenPath(PARAMETERS), (explorer, c) => renderToken(explorer, readerOf(explorer, c), tokenOf(c))],
  ...TOKEN_LISTS.map((list): readonly [string, Render] => [
    tokenPath(PARAMETERS, list),
    (explorer, c) => renderTokenListPage(readerOf(explorer, c), { ...tokenOf(c), list, cursor: cursorOf(c) }),
  ]),
  [accountPath(PARAMETERS), account("")],
  [accountPath(PARAMETERS, "listed"), account("listed")],
  [accountPath(PARAMETERS, "events"), account("events")],
];
