import type { Source } from "../uri/uri.ts";

/** Public gateways by protocol, each list in the order of how well they do. */
export type Gateways = {
  /** URLs that serve the source, the most promising first; a project's own gateway before all. */
  urlsOf: (source: Source & { kind: "ipfs" | "ipns" | "arweave" }) => string[];
  /** What a request to one of them came to. Counts for where it stands in the list; "cancelled": at least so long. */
  report: (url: string, outcome: { is: "served" | "failed" | "cancelled"; durationMs: number }) => void;
};

/** A gateway that doesn't serve is ranked as if it took this long. */
const FAILURE_MS = 10_000;
/** How much the latest request counts. */
const WEIGHT = 0.2;

/** `ipfs` and `arweave`: base URLs, with or without /ipfs at the end. */
export function createGateways({ ipfs, arweave }: { ipfs: string[]; arweave: string[] }): Gateways {
  const bases = { ipfs: ipfs.map(withoutSuffix), arweave: arweave.map(withoutSuffix) };
  const latency = new Map<string, number>();
  const latencyOf = (base: string) => latency.get(base) ?? 1000;

  return {
    urlsOf(source) {
      const kind = source.kind === "arweave" ? "arweave" : "ipfs";
      const ranked = bases[kind].toSorted((a, b) => latencyOf(a) - latencyOf(b));
      const urls = ranked.map((base) => base + pathOf(source));
      return source.origin === undefined ? urls : [source.origin, ...urls.filter((url) => url !== source.origin)];
    },
    report(url, { is, durationMs }) {
      const base = [...bases.ipfs, ...bases.arweave].find((candidate) => url.startsWith(`${candidate}/`));
      if (base === undefined || (is === "cancelled" && durationMs < latencyOf(base))) return;
      latency.set(base, latencyOf(base) * (1 - WEIGHT) + (is === "failed" ? FAILURE_MS : durationMs) * WEIGHT);
    },
  };
}

function pathOf(source: Source & { kind: "ipfs" | "ipns" | "arweave" }): string {
  if (source.kind === "arweave") return `/${source.id}${source.path}`;
  return source.kind === "ipfs" ? `/ipfs/${source.cid}${source.path}` : `/ipns/${source.name}${source.path}`;
}

function withoutSuffix(base: string): string {
  return base.replace(/\/+$/, "").replace(/\/ip[fn]s$/, "");
}
