import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", ".data/**"],
    globalSetup: ["test/postgres.setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What a test waits for is a fact, not a time: a busy machine only takes longer.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Each file has databases, ports and chains of its own. Two cores carry three at a time: they mostly wait.
    maxWorkers: 3,
  },
});
