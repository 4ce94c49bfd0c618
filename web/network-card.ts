import { html } from "hono/html";
import type { Status } from "../api/status.ts";
import { chainName } from "./chain.ts";
import { renderFact } from "./fact.ts";
import type { Html } from "./html.ts";
import { formatCount, formatDuration, formatNumber } from "./text.ts";

/** A network as `/status` has it. */
export type NetworkStatus = NonNullable<Status["networks"]["mainnet"]>;

/** The state of a network. `isWhole`: with all that is known, not only its progress. */
export function renderNetworkCard(
  name: string,
  { status, isWhole }: { status: NetworkStatus; isWhole: boolean },
): Html {
  const { chain_id, state, reason, progress, eta_seconds } = status;
  return html`<section class="panel network" aria-labelledby="network-${name}">
    <h2 id="network-${name}">
      ${chainName(chain_id)} <span class="muted">${name}</span>
      <span class="state ${state}">${state}</span>
    </h2>
    ${reason !== undefined && html`<p>${reason}</p>`}
    ${
      state === "backfill" &&
      html`<progress value="${progress}" max="1" aria-label="Progress of ${name}"></progress>
        <p>
          ${formatNumber(progress * 100)} %${eta_seconds !== null && html`, about ${formatDuration(eta_seconds)} left`}
        </p>`
    }
    <dl class="stats">
      ${renderFact("Indexed block", formatCount(status.indexed_block))}
      ${renderFact("Newest block", formatCount(status.head_block))}
      ${renderFact("Behind by", formatDuration(status.lag_seconds))}
      ${
        isWhole &&
        html`${renderFact("Final block", formatCount(status.finalized_block))}
        ${renderFact("Logs a second", formatNumber(status.logs_per_second))}
        ${renderFact("Time left", eta_seconds === null ? "–" : formatDuration(eta_seconds))}
        ${renderFact("Skipped logs", formatCount(status.skipped_logs))}
        ${renderFact("Reorgs seen", formatCount(status.reorgs))}`
      }
    </dl>
  </section>`;
}
