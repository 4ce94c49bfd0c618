import type { Context } from "hono";
import type { Env } from "../api/http/request-state.ts";
import { renderAccountPage } from "./account-page.ts";
import { renderCollection } from "./collection-page.ts";
import { renderAllCollections } from "./collections-page.ts";
import { renderNewest } from "./events-page.ts";
import { renderHome } from "./home-page.ts";
import type { Page } from "./html.ts";
import { renderKeys } from "./keys-page.ts";
import { type AccountView, type CollectionView, HOME_PATH, KEYS_PATH, SEARCH_PATH, STATUS_PATH } from "./path.ts";
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

const COLLECTION = "/explorer/collection/:network/:contract";
const TOKEN = "/explorer/token/:network/:contract/:token";
const ACCOUNT = "/explorer/account/:network/:account";

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

/** Every page by its path, with parameters as Hono writes them. */
export const PAGES: readonly (readonly [path: string, render: Render])[] = [
  [HOME_PATH, renderHome],
  ["/explorer", () => ({ redirect: HOME_PATH })],
  [STATUS_PATH, renderStatus],
  [KEYS_PATH, (explorer, c) => renderKeys(explorer, { origin: new URL(c.req.url).origin })],
  [SEARCH_PATH, (explorer, c) => search(explorer, c.req.query("q") ?? "")],
  [
    "/explorer/collections/:network",
    (explorer, c) => renderAllCollections(readerOf(explorer, c), { cursor: cursorOf(c) }),
  ],
  ["/explorer/events/:network", (explorer, c) => renderNewest(readerOf(explorer, c), { cursor: cursorOf(c) })],
  [COLLECTION, collection("")],
  [`${COLLECTION}/listed`, collection("listed")],
  [`${COLLECTION}/events`, collection("events")],
  [TOKEN, (explorer, c) => renderToken(explorer, readerOf(explorer, c), tokenOf(c))],
  ...TOKEN_LISTS.map((list): readonly [string, Render] => [
    `${TOKEN}/${list}`,
    (explorer, c) => renderTokenListPage(readerOf(explorer, c), { ...tokenOf(c), list, cursor: cursorOf(c) }),
  ]),
  [ACCOUNT, account("")],
  [`${ACCOUNT}/listed`, account("listed")],
  [`${ACCOUNT}/events`, account("events")],
];
