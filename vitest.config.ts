import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes minutes, the longest first. */
const LONGEST = ["failover", "history", "reorg", "start", "explorer", "rebuild", "guess", "crash", "order-fault"];

/** What waits for a chain takes longest, so that goes first: nothing long is left when the other files are done. */
class ChainsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const name = /([^/]+)\.chain\.test\.ts$/.exec(moduleId)?.[1];
      if (name === undefined) return LONGEST.length + 1;
      return LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- It is no array's.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
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
    // Each file has databases, ports and chains of its own. Three keep two cores busy; with four, 10 to 25 processes
    // wanted them at any time, and the same start of a Ponder took 5.7 s of a core instead of 3.8.
    maxWorkers: 3,
    // Of one file: each has a Ponder to start.
    maxConcurrency: 2,
    // Modules are read once for all files of a worker: those without a chain take a sixth less of the cores' time. Files
    // share nothing else, and none changes what others import.
    isolate: false,
    // Before any file that imports the driver itself: what is loaded stays as it is.
    setupFiles: ["postgres/driver.ts"],
    sequence: { sequencer: ChainsFirst },
  },
});
