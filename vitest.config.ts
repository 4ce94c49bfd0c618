import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes minutes, the longest first. */
const LONGEST = ["failover", "history", "reorg", "start", "explorer", "rebuild", "guess", "crash", "order-fault"].map(
  (name) => `test/${name}.chain`,
);

/** What waits most of its time, for ten seconds and more: for what is slow or silent, and for time-outs. */
const WAITING = [
  "offchain/fetch/slow-hosts.pg",
  "offchain/fetch/hostile-origin.pg",
  "offchain/fetch/fetcher",
  "offchain/chain/call",
  "web/live.pg",
  "api/database-fault.pg",
  "api/listen.pg",
  "bin/postgres.pg",
  "bin/worker.pg",
  "bin/owner-lock.pg",
  "indexer/publication.pg",
  "indexer/pruning.pg",
  "indexer/rpc/rpc-chain",
  "history/rpc/http-post",
];
/** After how many files that keep the cores busy one follows that waits. */
const BUSY_FILES = 2;

/** What has a chain takes longest, so that goes first, and among it what waits: so the cores are busy until the end. */
class ChainsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeIn = (names: string[], { moduleId }: TestSpecification) =>
      names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    const isWaiting = (file: TestSpecification) => placeIn(WAITING, file) >= 0;
    const rankOf = (file: TestSpecification) => {
      const place = placeIn(LONGEST, file);
      if (place >= 0) return place;
      return LONGEST.length + (file.moduleId.endsWith(".chain.test.ts") ? 0 : 1);
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- It is no array's.
    const sorted = await super.sort(files);
    const busy = sorted.filter((file) => !isWaiting(file)).toSorted((a, b) => rankOf(a) - rankOf(b));
    const waiting = sorted.filter(isWaiting);
    return busy.flatMap((file, i) => (i % BUSY_FILES === 0 ? [...waiting.splice(0, 1), file] : [file])).concat(waiting);
  }
}

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", ".data/**"],
    globalSetup: ["test/postgres.setup.ts"],
    // What a test waits for is a fact, not a time: a busy machine only takes longer. These end what hangs.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 300_000, interval: 20 } },
    // Each file has databases, ports and chains of its own, and waits for them half of the time and more: with five, two
    // cores are busy.
    maxWorkers: 5,
    // Of one file: each has a Ponder to start.
    maxConcurrency: 2,
    // Modules are read once for all files of a worker: those without a chain take a sixth less of the cores' time. Files
    // share nothing else, and none changes what others import.
    isolate: false,
    // Before any file that imports the driver itself: what is loaded stays as it is.
    setupFiles: ["postgres/driver.ts", "test/property.setup.ts"],
    sequence: { sequencer: ChainsFirst },
  },
});
