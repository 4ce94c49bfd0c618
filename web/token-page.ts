import { html } from "hono/html";
import type { Hex } from "viem";
import { findOrderbookToken } from "../api/orderbook/orderbook.ts";
import { readTokenStories, type TokenStory } from "../offchain/token/token-story.ts";
import { renderAddressLink, renderTransactionTime } from "./block-explorer.ts";
import { collectionName } from "./collection-list.ts";
import { renderCopyButton } from "./copy-button.ts";
import type { Html, Page } from "./html.ts";
import { renderAccount, renderForeignLink } from "./link.ts";
import { renderListing } from "./listing.ts";
import { renderMetadataStory } from "./metadata-story.ts";
import { collectionPath, tokenPath } from "./path.ts";
import { renderMedia } from "./picture.ts";
import type { Explorer, Reader } from "./reader.ts";
import { formatCount, oneLine, paragraphs, renderTime } from "./text.ts";
import { loadToken, type Token, tokenName } from "./token.ts";
import { renderTokenList, TOKEN_LISTS } from "./token-list.ts";

/** A document may have 256 kB. Long parts of it are cut, so that the page stays under 60 kB. */
const MAX_DESCRIPTION_LENGTH = 2000;
const MAX_ATTRIBUTES = 60;
/** Most characters of all attributes together. Each may take five bytes once it is escaped. */
const MAX_ATTRIBUTES_LENGTH = 2000;
const MAX_RAW_LENGTH = 2000;

type Options = { contractAddress: string; tokenId: string };

/** All about one token. @throws HttpError 404 */
export async function renderToken({ config }: Explorer, reader: Reader, options: Options): Promise<Page> {
  const { sql, chainId, moment, network } = reader;
  const { contractAddress, tokenId } = options;
  const [token, order, stories, ...lists] = await Promise.all([
    loadToken(reader, options),
    findOrderbookToken(sql, { ...moment, contractAddress, tokenId }),
    readTokenStories(sql, { contractAddress: contractAddress as Hex, tokenId }),
    ...TOKEN_LISTS.map((list) => renderTokenList(reader, { ...options, list, cursor: undefined, isWhole: false })),
  ]);
  const story = stories.find((one) => one.chain_id === chainId);
  const { normalized, raw } = token.metadata;
  const place = { network, contract_address: contractAddress };
  const name = tokenName(token);
  const collection = collectionName({ name: token.contract_name, contract_address: contractAddress });
  return {
    title: `${name} · ${collection}`,
    about: normalized.description,
    isUnfinished: token.awaiting_metadata_update || (story !== undefined && isPictureDue(story)),
    body: html`<div class="split">
        <div class="media" id="media">${renderMedia(normalized, { name })}</div>
        <div>
          <p>
            <a href="${collectionPath(place)}">${collection}</a>
          </p>
          <h1>${name}</h1>
          <div id="state">
            <section class="panel" aria-label="Listing">${renderListing(reader, order)}</section>
            ${renderFacts(reader, token, { hasOwners: order?.standard === "ERC1155" })}
          </div>
        </div>
      </div>
      ${renderText(token)} ${renderAttributes(normalized)} ${lists}
      <section aria-labelledby="metadata">
        <h2 id="metadata">Metadata</h2>
        <div id="story">
          ${renderMetadataStory(story, {
            refreshPath: tokenPath({ ...place, token_id: tokenId }, "refresh"),
            cooldownSeconds: config.refreshCooldownSeconds,
          })}
        </div>
        ${
          raw !== "" &&
          html`<details>
            <summary>The document as it was fetched</summary>
            <pre tabindex="0">${paragraphs(raw, MAX_RAW_LENGTH)}</pre>
          </details>`
        }
      </section>`,
  };
}

/** A picture comes after the document that names it. One that failed may take hours to be tried again. */
const isPictureDue = ({ media_due_at, media_error_code, image_key, animation_key }: TokenStory): boolean =>
  media_due_at !== null && media_error_code === null && image_key + animation_key === "";

/** `hasOwners`: it may have several. */
function renderFacts({ network, chainId }: Reader, token: Token, { hasOwners }: { hasOwners: boolean }): Html {
  const { mint_info: mint } = token;
  return html`<dl class="facts">
    <dt>${hasOwners ? "Newest owner" : "Owner"}</dt>
    <dd>${renderAccount(token.owner, { network })}</dd>
    <dt>Token id</dt>
    <dd><span class="hex whole">${token.token_id}</span> ${renderCopyButton(token.token_id, { what: "token id" })}</dd>
    <dt>Contract</dt>
    <dd>
      <span class="hex whole">${token.contract_address}</span>
      ${renderCopyButton(token.contract_address, { what: "contract address" })}
      ${renderAddressLink(token.contract_address, { chainId })}
    </dd>
    <dt>Standard</dt>
    <dd>${token.type}</dd>
    <dt>Minted</dt>
    <dd>
      ${
        mint.address === null || mint.timestamp === null || mint.transaction_hash === null
          ? "never seen"
          : html`${renderTransactionTime(renderTime(mint.timestamp), { chainId, hash: mint.transaction_hash })} to
            ${renderAccount(mint.address, { network })}, block ${String(mint.block_number)}`
      }
    </dd>
  </dl>`;
}

function renderText({ metadata: { normalized } }: Token): Html | "" {
  const { external_url, youtube_url, background_color } = normalized;
  const description = paragraphs(normalized.description, MAX_DESCRIPTION_LENGTH);
  if (description + external_url + youtube_url + background_color === "") return "";
  return html`<section aria-labelledby="about">
    <h2 id="about">About</h2>
    ${description !== "" && html`<p class="description">${description}</p>`}
    ${external_url !== "" && html`<p>${renderForeignLink(external_url)}</p>`}
    ${youtube_url !== "" && html`<p>${renderForeignLink(youtube_url)}</p>`}
    ${
      /^[\da-f]{6}$/.test(background_color) &&
      html`<p>
        Background
        <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
          <rect width="1" height="1" fill="#${background_color}" />
        </svg>
        <code>#${background_color}</code>
      </p>`
    }
  </section>`;
}

/** An attribute's value. A date is given in Unix seconds, as other sites that show tokens define it. */
const valueOf = ({ display_type, value }: { display_type: string | null; value: string }): string =>
  display_type === "date" && /^\d{1,11}$/.test(value)
    ? new Date(Number(value) * 1000).toISOString().slice(0, 10)
    : oneLine(value, 120);

function renderAttributes({ attributes }: Token["metadata"]["normalized"]): Html | "" {
  if (attributes.length === 0) return "";
  let length = 0;
  const shown = attributes
    .slice(0, MAX_ATTRIBUTES)
    .map((attribute) => ({ name: oneLine(attribute.trait_type, 60) || "Trait", value: valueOf(attribute) || "–" }))
    .filter(({ name, value }) => (length += name.length + value.length) <= MAX_ATTRIBUTES_LENGTH);
  const left = attributes.length - shown.length;
  return html`<section aria-labelledby="attributes">
    <h2 id="attributes">Attributes</h2>
    <dl class="attributes">
      ${shown.map(
        ({ name, value }) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    ${left > 0 && html`<p class="muted">And ${formatCount(left)} more.</p>`}
  </section>`;
}
