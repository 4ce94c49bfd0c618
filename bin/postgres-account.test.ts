import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

/** Looks the account up, and ends no sooner because of Ctrl-C. */
const PROGRAM = `
  import { findAccount } from ${JSON.stringify(join(import.meta.dirname, "postgres-account.ts"))};
  process.on("SIGINT", () => {});
  process.env.GROUP = String(process.pid);
  console.log((await findAccount("/")).uid);
`;

/** While it is asked, somebody types Ctrl-C: what a terminal sends reaches the whole group of who asks. */
const SLOW_ID = `#!/bin/sh
kill -INT -$GROUP
sleep 0.1
PATH=$WITHOUT_OURS exec id "$@"
`;

test.runIf(process.getuid?.() === 0)("Ctrl-C doesn't make the account of Postgres look missing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-account-"));
  try {
    await writeFile(join(directory, "id"), SLOW_ID);
    await writeFile(join(directory, "useradd"), "#!/bin/sh\nexit 9\n");
    await Promise.all(["id", "useradd"].map((name) => chmod(join(directory, name), 0o755)));
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PATH: `${directory}:${process.env.PATH}`, WITHOUT_OURS: process.env.PATH },
    });
    expect(await text(child.stdout)).toMatch(/^\d+\n$/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
