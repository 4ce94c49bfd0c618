import { html } from "hono/html";
import { createPathOf } from "../api/host.ts";
import type { KeyRow, NewKey } from "../api/key/key.ts";
import { renderCopyButton } from "./copy-button.ts";
import type { Html, Page } from "./html.ts";
import { DOCS_PATH, KEY_USE_PATH, KEYS_PATH } from "./path.ts";
import type { Explorer } from "./reader.ts";
import { formatCount, renderDate } from "./text.ts";

/** How much a key was used. For keys that the operator configured this isn't counted. */
export type KeyUse = KeyRow | "operator" | "unknown";

type Options = {
  /** The origin of this service as the reader's browser knows it. */
  origin: string;
  created?: NewKey;
  use?: KeyUse;
};

/** The page to register a key, with the new key, or how much a key was used. */
export function renderKeys({ registration, config }: Explorer, { origin, created, use }: Options): Page {
  return {
    title: "Keys",
    isStill: true,
    body: html`<h1>API keys</h1>
      <p>
        The Indexer API takes a key in the header <code>x-api-key</code>: ${formatCount(config.rateLimit)} requests a
        second, up to ${formatCount(config.rateBurst)} at once. See <a href="${DOCS_PATH}">the documentation</a>.
      </p>
      ${created && renderCreated(created, { indexer: findIndexer(config, origin) })} ${use && renderUse(use)}
      <div class="row">
        <section class="panel" aria-labelledby="register">
          <h2 id="register">Register</h2>
          ${
            registration.isOpen
              ? html`<form method="post" action="${KEYS_PATH}">
                  <label for="name">What it is for</label>
                  <input id="name" name="name" required maxlength="100" autocomplete="off" placeholder="my-app" />
                  <button>Register a key</button>
                </form>`
              : html`<p>Registration is closed. The operator of this service gives keys.</p>`
          }
        </section>
        <section class="panel" aria-labelledby="usage">
          <h2 id="usage">Usage</h2>
          <form method="post" action="${KEY_USE_PATH}">
            <label for="key">Your key</label>
            <input id="key" name="key" type="password" required maxlength="200" autocomplete="off" />
            <button>Show its usage</button>
          </form>
        </section>
      </div>`,
  };
}

const EXAMPLE_PATH = "/v1/contracts";

/**
 * The origin at which a reader finds the Indexer API, if they see this service at `origin`: the same one, unless its
 * host name is that of another API. Undefined if no host name of the Indexer API is configured then.
 */
function findIndexer({ hosts }: Explorer["config"], origin: string): string | undefined {
  const { protocol, host, port } = new URL(origin);
  const path = createPathOf({ hosts })?.(host, EXAMPLE_PATH) ?? EXAMPLE_PATH;
  if (/^(\/testnet)?\/v1\//.test(path)) return origin;
  if (hosts.indexer === undefined) return undefined;
  const isWithPort = port === "" || hosts.indexer.includes(":");
  return `${protocol}//${hosts.indexer}${isWithPort ? "" : `:${port}`}`;
}

function renderCreated({ key, prefix, name }: NewKey, { indexer }: { indexer: string | undefined }): Html {
  const command = indexer !== undefined && `curl -s -H 'x-api-key: ${key}' '${indexer}${EXAMPLE_PATH}?limit=3'`;
  return html`<section class="panel created" role="status" aria-labelledby="created">
    <h2 id="created">Your key for ${name}</h2>
    <p>Keep it now: it is shown this once. It is listed and revoked by <code>${prefix}</code>.</p>
    <pre id="key-text" tabindex="0">${key}</pre>
    ${renderCopyButton(key, { what: "key" })}
    ${
      command &&
      html`<p>Ready to paste:</p>
        <pre id="curl" tabindex="0">${command}</pre>
        ${renderCopyButton(command, { what: "command" })}`
    }
  </section>`;
}

function renderUse(use: KeyUse): Html {
  if (use === "unknown")
    return html`<p class="panel" role="status">This key is unknown. Expected one that was registered here.</p>`;
  if (use === "operator")
    return html`<p class="panel" role="status">
      This key is one of the operator’s. It works, and its requests aren’t counted.
    </p>`;
  return html`<section class="panel" role="status" aria-labelledby="used">
    <h2 id="used">Usage of ${use.name}</h2>
    <dl class="facts">
      <dt>Key</dt>
      <dd><code>${use.prefix}…</code></dd>
      <dt>Requests</dt>
      <dd>${formatCount(use.request_count)}</dd>
      <dt>Last used</dt>
      <dd>${use.last_used_at ? renderDate(use.last_used_at) : "never"}</dd>
      <dt>Registered</dt>
      <dd>${renderDate(use.created_at)}</dd>
      ${
        use.revoked_at &&
        html`<dt>Revoked</dt>
          <dd>${renderDate(use.revoked_at)}</dd>`
      }
    </dl>
    <p class="muted">Requests are counted every five seconds.</p>
  </section>`;
}
