import { html } from "hono/html";
import { listContracts } from "../api/token/contract.ts";
import { renderCollections } from "./collection-list.ts";
import type { Page } from "./html.ts";
import { type ListPlace, loadPage } from "./list-page.ts";
import { renderPager } from "./pager.ts";
import { collectionsPath } from "./path.ts";
import type { Reader } from "./reader.ts";

const COLLECTIONS = 24;

/** All collections of a network, first seen first. */
export async function renderAllCollections(reader: Reader, { cursor }: { cursor: string | undefined }): Promise<Page> {
  const { network, sql, chainId } = reader;
  const { rows, next, isFirst } = await loadPage(reader, {
    scope: `collections ${network}`,
    cursor,
    limit: COLLECTIONS,
    load: ({ after, limit }: ListPlace<[number, number, string]>) => listContracts(sql, { chainId, after, limit }),
    keyOf: (row): [number, number, string] => [row.block_number, row.log_index, row.contract_address],
  });
  return {
    title: `Collections on ${network}`,
    body: html`<h1>Collections <span class="muted">${network}, first seen first</span></h1>
      ${await renderCollections(reader, { contracts: rows })}
      ${renderPager({ path: collectionsPath(network), next, isFirst })}`,
  };
}
