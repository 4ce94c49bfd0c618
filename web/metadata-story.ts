import { html } from "hono/html";
import { refreshWaitSeconds } from "../api/token/refresh.ts";
import { placesText, type TokenStory } from "../offchain/token/token-story.ts";
import type { Html } from "./html.ts";
import { renderForeignLink } from "./link.ts";
import { formatCount, formatDuration, oneLine, renderDate } from "./text.ts";

const row = (name: string, value: Html | string | false | undefined): Html | "" =>
  value === false || value === undefined || value === ""
    ? ""
    : html`<dt>${name}</dt>
        <dd>${value}</dd>`;

/** Where a token's metadata came from, what went wrong, and when it is due. */
export function renderMetadataStory(
  story: TokenStory | undefined,
  { refreshPath, cooldownSeconds }: { refreshPath: string; cooldownSeconds: number },
): Html {
  const waitSeconds = refreshWaitSeconds(story?.refresh_seconds_ago ?? null, { cooldownSeconds });
  return html`<dl class="facts">${story ? renderRows(story) : row("Document", "not asked for yet")}</dl>
    <form method="post" action="${refreshPath}">
      <button ${waitSeconds > 0 ? html`disabled` : ""}>Refresh metadata</button>
      ${
        story?.awaiting === true
          ? html`<span role="status">Waiting for the fetch.</span>`
          : waitSeconds > 0 && html`<span class="muted">Again in ${formatDuration(waitSeconds)}.</span>`
      }
    </form>`;
}

function renderRows(story: TokenStory): Html {
  const { error_code, error_message, error_host, media_error_code, media_error_host } = story;
  return html`
    ${row("Token URI", story.token_uri !== "" && renderForeignLink(story.token_uri))}
    ${row("Asked by", story.uri_function ? `${story.uri_function}()` : undefined)}
    ${row(
      "Document",
      story.is_fetched ? html`${formatCount(story.raw_length)} characters from ${originOf(story)}` : "none yet",
    )}
    ${row("Fetched", story.updated_at ? renderDate(story.updated_at) : undefined)}
    ${row("Last try", story.attempted_at ? renderDate(story.attempted_at) : undefined)}
    ${row("Problem", error_code !== null && html`${oneLine([error_code, error_host, error_message].filter(Boolean).join(", "), 200)}`)}
    ${row("Media problem", media_error_code !== null && oneLine([media_error_code, media_error_host].filter(Boolean).join(", "), 200))}
    ${row("Next", nextOf(story))} ${row("Next media", story.media_due_at ? renderDate(story.media_due_at) : undefined)}
  `;
}

/** Where metadata was fetched from. For "chain" and "data" no host was asked. */
function originOf({ fetched_from, token_uri }: TokenStory): Html | string {
  if (fetched_from === "chain") return "the chain";
  if (fetched_from === "data") return "the URI itself";
  return fetched_from === token_uri ? "there" : renderForeignLink(fetched_from ?? "");
}

function nextOf(story: TokenStory): Html | string {
  const { turn, due_at } = story;
  if (turn !== null) return `ready, ${placesText(story)}`;
  return due_at ? renderDate(due_at) : "when something asks for it";
}
