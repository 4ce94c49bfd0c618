import { html } from "hono/html";
import { findVerified } from "../api/marketplace/collection-verification.ts";
import type { Contract } from "../api/token/contract.ts";
import { listPreviewTokens } from "../api/token/token-card.ts";
import type { Html } from "./html.ts";
import { collectionPath } from "./path.ts";
import { renderThumbnail } from "./picture.ts";
import type { Reader } from "./reader.ts";
import { formatCount, oneLine, shorten } from "./text.ts";
import { loadCards } from "./token-grid.ts";

/** A collection's name for people; its address shortened where it has none. */
export const collectionName = ({ name, contract_address }: Pick<Contract, "name" | "contract_address">): string =>
  oneLine(name) || shorten(contract_address);

/** Which of some collections are verified. A counterfeit may have the same name, but not this tag. */
export const findVerifiedOn = ({ network, sql }: Reader, options: { addresses: readonly string[] }) =>
  network === "mainnet" ? findVerified(sql, options) : Promise.resolve(new Set<string>());
/** What is shown beside a verified one. */
export const VERIFIED_TAG = html`<span class="tag verified">verified</span>`;

/** Collections with the pictures of their first tokens. `countOf`: a collection's number of tokens, if it is known. */
export async function renderCollections(
  reader: Reader,
  { contracts, countOf }: { contracts: readonly Contract[]; countOf?: (contract: Contract) => number | undefined },
): Promise<Html> {
  if (contracts.length === 0) return html`<p class="muted">None yet.</p>`;
  const addresses = contracts.map(({ contract_address }) => contract_address);
  const [previews, verified] = await Promise.all([
    listPreviewTokens(reader.sql, { addresses }),
    findVerifiedOn(reader, { addresses }),
  ]);
  const cards = await loadCards(reader, previews);
  return html`<ul class="grid collections">
    ${contracts.map((contract) => {
      const { contract_address, contract_type } = contract;
      const tokens = previews.filter((token) => token.contract_address === contract_address);
      const count = countOf?.(contract);
      return html`<li data-key="${contract_address}">
        <a class="card" href="${collectionPath({ network: reader.network, contract_address })}">
          <span class="mosaic">${tokens.map((token) => renderThumbnail(cards.of(token)))}</span>
          <span class="name">${collectionName(contract)} ${verified.has(contract_address) && VERIFIED_TAG}</span>
          <span class="facts"
            >${contract_type}${count !== undefined && html` · ${formatCount(count)} ${count === 1 ? "token" : "tokens"}`}</span
          >
        </a>
      </li>`;
    })}
  </ul>`;
}
