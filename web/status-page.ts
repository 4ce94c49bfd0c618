import { html } from "hono/html";
import { NETWORKS, type Network } from "../config.ts";
import { describeStatus, type Status } from "../api/status.ts";
import { renderFact } from "./fact.ts";
import type { Html, Page } from "./html.ts";
import { type NetworkStatus, renderNetworkCard } from "./network-card.ts";
import { renderPlot } from "./plot.ts";
import type { Explorer } from "./reader.ts";
import type { Sample } from "./samples.ts";
import { numberHead, renderTable } from "./table.ts";
import { formatCount, formatDuration, formatNumber, oneLine } from "./text.ts";

/** The state of each network and of the metadata, with plots over time. */
export function renderStatus({ monitor, samples }: Explorer): Page {
  const { networks, metadata } = describeStatus(monitor);
  const seen = samples.list();
  return {
    title: "Status",
    isUnfinished: true,
    body: html`<h1>Status</h1>
      <div id="status">
        ${!monitor.isReachable() && html`<p class="state stalled">The database is unreachable.</p>`}
        ${NETWORKS.map((name) => networks[name] && renderNetwork(name, networks[name], seen))}
        ${Object.keys(networks).length === 0 && html`<p>No indexer has reported yet.</p>`}
        ${renderMetadata(metadata, seen)}
      </div>
      <p class="muted">
        As this process saw it. The same for programs: <a href="/status">/status</a>, <a href="/metrics">/metrics</a>.
      </p>`,
  };
}

function renderNetwork(name: Network, status: NetworkStatus, seen: readonly Sample[]): Html {
  const pointsOf = (read: (status: NetworkStatus) => number) =>
    seen.flatMap(({ at, status }) => {
      const network = status.networks[name];
      return network ? [{ at, value: read(network) }] : [];
    });
  return html`<div class="row status">
    ${renderNetworkCard(name, { status, isWhole: true })}
    <div class="panel plots">
      ${renderPlot("Progress", { points: pointsOf(({ progress }) => progress), format: (value) => `${formatNumber(value * 100)} %` })}
      ${renderPlot("Logs a second", { points: pointsOf(({ logs_per_second }) => logs_per_second) })}
      ${renderPlot("Behind by", { points: pointsOf(({ lag_seconds }) => lag_seconds), format: formatDuration })}
      ${renderPlot("Indexed block", { points: pointsOf(({ indexed_block }) => indexed_block), format: formatCount })}
    </div>
  </div>`;
}

function renderMetadata(metadata: Status["metadata"], seen: readonly Sample[]): Html {
  const pointsOf = (read: (metadata: Status["metadata"]) => number) =>
    seen.map(({ at, status }) => ({ at, value: read(status.metadata) }));
  const { failures, oldest_due_seconds, workers } = metadata;
  return html`<section aria-labelledby="metadata-queue">
    <h2 id="metadata-queue">Metadata</h2>
    <div class="row status">
      <dl class="stats panel">
        ${renderFact("Tokens", formatCount(metadata.tokens))} ${renderFact("Done", formatCount(metadata.fetched))}
        ${renderFact("Waiting", formatCount(metadata.waiting))} ${renderFact("Failing", formatCount(metadata.failing))}
        ${renderFact("Oldest due", oldest_due_seconds === null ? "–" : formatDuration(oldest_due_seconds))}
        ${renderFact("Workers", formatCount(workers))}
      </dl>
      <div class="panel plots">
        ${renderPlot("Done", { points: pointsOf(({ fetched }) => fetched), format: formatCount })}
        ${renderPlot("Waiting", { points: pointsOf(({ waiting }) => waiting), format: formatCount })}
        ${renderPlot("Failing", { points: pointsOf(({ failing }) => failing), format: formatCount })}
        ${renderPlot("Fetches a second", { points: pointsOf(({ fetches_per_second }) => fetches_per_second) })}
      </div>
    </div>
    ${
      failures.length > 0 &&
      renderTable("Failures", {
        caption: "Last attempts that failed, by cause and host, also where an earlier document is kept",
        heads: ["Cause", "Host", numberHead("Tokens")],
        rows: failures.map(
          ({ code, host, tokens }) =>
            html`<tr>
              <td>${code}</td>
              <td>${oneLine(host) || "–"}</td>
              <td class="number">${formatCount(tokens)}</td>
            </tr>`,
        ),
      })
    }
  </section>`;
}
