import type { Source } from "../uri/uri.ts";

/** The gateways by protocol, each list sorted by how well they do. */
type Gateways = {
  /** The URLs for a source, the most promising first. A project's own gateway comes before all. */
  urlsOf: (source: Source & { kind: "ipfs" | "ipns" | "arweave" }) => string[];
  /** Notes the outcome of a request, for the order. "cancelled": it would have taken at least `durationMs`. */
  report: (url: string, outcome: { is: "served" | "failed" | "cancelled"; durationMs: number }) => void;
  /** A URL as anybody may read it: without a gateway's user and password, and the path before its own, often a key. */
  nameOf: (url: string) => string;
};

/** A failure counts like a request that took so long. */
const FAILURE_MS = 10_000;
/** The weight of the latest request in the average. */
const WEIGHT = 0.2;

/** Creates the lists. `ipfs` and `arweave`: base URLs, with or without /ipfs at the end. */
export function createGateways({ ipfs, arweave }: { ipfs: string[]; arweave: string[] }): Gateways {
  const bases = { ipfs: ipfs.map(withoutSuffix), arweave: arweave.map(withoutSuffix) };
  const latency = new Map<string, number>();
  const latencyOf = (base: string) => latency.get(base) ?? 1000;
  const baseOf = (url: string) => [...bases.ipfs, ...bases.arweave].find((base) => url.startsWith(`${base}/`));

  return {
    urlsOf(source) {
      const kind = source.kind === "arweave" ? "arweave" : "ipfs";
      const ranked = bases[kind].toSorted((a, b) => latencyOf(a) - latencyOf(b));
      const urls = ranked.map((base) => base + pathOf(source));
      return source.origin === undefined ? urls : [source.origin, ...urls.filter((url) => url !== source.origin)];
    },
    report(url, { is, durationMs }) {
      const base = baseOf(url);
      if (base === undefined || (is === "cancelled" && durationMs < latencyOf(base))) return;
      latency.set(base, latencyOf(base) * (1 - WEIGHT) + (is === "failed" ? FAILURE_MS : durationMs) * WEIGHT);
    },
    nameOf(url) {
      const base = baseOf(url);
      return base === undefined ? url : new URL(base).origin + url.slice(base.length);
    },
  };
}

function pathOf(source: Source & { kind: "ipfs" | "ipns" | "arweave" }): string {
  if (source.kind === "arweave") return `/${source.id}${source.path}`;
  return source.kind === "ipfs" ? `/ipfs/${source.cid}${source.path}` : `/ipns/${source.name}${source.path}`;
}

function withoutSuffix(base: string): string {
  return new URL(base).href.replace(/\/+$/, "").replace(/\/ip[fn]s$/, "");
}
