import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What waits for a chain takes longest, so that goes first: nothing long is left when the other files are done. */
class ChainsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isChain = ({ moduleId }: TestSpecification) => moduleId.endsWith(".chain.test.ts");
    // oxlint-disable-next-line unicorn/no-array-sort -- It is no array's.
    const sorted = await super.sort(files);
    return [...sorted.filter(isChain), ...sorted.filter((file) => !isChain(file))];
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
    // Each file has databases, ports and chains of its own. Two cores carry four at a time: they mostly wait.
    maxWorkers: 4,
    // Of one file: each has a Ponder to start.
    maxConcurrency: 2,
    sequence: { sequencer: ChainsFirst },
  },
});
