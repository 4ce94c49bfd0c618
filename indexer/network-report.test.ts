import { expect, test } from "vitest";
import type { NetworkReport } from "../offchain/network.ts";
import { formatReport } from "./network-report.ts";

const REPORT: NetworkReport = {
  name: "mainnet",
  chain_id: 1,
  state: "backfill",
  reason: null,
  head_block: 391,
  indexed_block: 361,
  finalized_block: 361,
  head_timestamp: 0,
  indexed_timestamp: 0,
  progress: 0.9232,
  logs_per_second: 0,
  eta_seconds: null,
  skipped_logs: 0,
  reorgs: 0,
};
const lineOf = (logs_per_second: number) => formatReport({ ...REPORT, logs_per_second }, { block: 361 });

test("a rate that would be told as 0 is left out", () => {
  expect(lineOf(1.2)).toBe("mainnet  backfill 92.3 %, block 361 of 391, 1 logs/s");
  expect(lineOf(0.3)).toBe("mainnet  backfill 92.3 %, block 361 of 391");
  expect(lineOf(0)).toBe("mainnet  backfill 92.3 %, block 361 of 391");
});
