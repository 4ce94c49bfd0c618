import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", ".data/**"],
    globalSetup: ["test/postgres.setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each file has databases, ports and chains of its own. Two cores carry three at a time: they mostly wait.
    maxWorkers: 3,
  },
});
