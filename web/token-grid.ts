import { html } from "hono/html";
import type { OrderbookRow } from "../api/orderbook/orderbook.ts";
import { listTokenCards, type TokenCard } from "../api/token/token-card.ts";
import type { TokenKey } from "../api/token/token-lookup.ts";
import { renderAmount } from "./currency.ts";
import type { Html } from "./html.ts";
import { tokenPath } from "./path.ts";
import { renderThumbnail } from "./picture.ts";
import type { Reader } from "./reader.ts";
import { isNobody, oneLine, renderUnits, shortenId } from "./text.ts";

/** A token of a grid, with its listing and how many units are held where these are known. */
export type GridToken = TokenKey & { balance?: string } & (
    | OrderbookRow
    | { owner?: undefined; order_hash?: undefined }
  );

/** Names and pictures of tokens, by contract and id. */
export type Cards = { of: (key: TokenKey) => TokenCard | undefined; nameOf: (key: TokenKey) => string };

/** @param tokens may contain the same token several times */
export async function loadCards({ sql, chainId }: Reader, tokens: readonly TokenKey[]): Promise<Cards> {
  const wordOf = ({ contract_address, token_id }: TokenKey) => `${contract_address}/${token_id}`;
  const wanted = [...new Map(tokens.map((key) => [wordOf(key), key])).values()];
  const cards = new Map((await listTokenCards(sql, { chainId, tokens: wanted })).map((card) => [wordOf(card), card]));
  const of = (key: TokenKey) => cards.get(wordOf(key));
  return { of, nameOf: (key) => oneLine(of(key)?.name ?? "") || `#${shortenId(key.token_id)}` };
}

/** Tokens with pictures, and with their price if they are on sale. */
export function renderTokenGrid(
  { network, chainId }: Reader,
  { tokens, cards }: { tokens: readonly GridToken[]; cards: Cards },
): Html {
  return html`<ul class="grid">
    ${tokens.map(
      (token) =>
        html`<li data-key="${token.contract_address}/${token.token_id}">
          <a class="card" href="${tokenPath({ network, ...token })}">
            <span class="thumb">${renderThumbnail(cards.of(token))}</span>
            <span class="name">${cards.nameOf(token)}</span>
            <span class="facts">${renderFacts(token, { chainId })}</span>
          </a>
        </li>`,
    )}
  </ul>`;
}

function renderFacts(token: GridToken, { chainId }: { chainId: number }): Html | string {
  if (token.owner !== undefined && isNobody(token.owner)) return "burned";
  const { balance } = token;
  const units = balance !== undefined && balance !== "1" ? html`× ${renderUnits(balance)}` : "";
  if (typeof token.order_hash !== "string") return units;
  const price = renderAmount(token.current_price, { chainId, currencyAddress: token.currency_address });
  return html`${units} <b>${price}</b>`;
}
