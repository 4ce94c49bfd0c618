import { chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { giveLoadToOwner, loadDirectoryOf } from "./load-directory.ts";

test.skipIf(process.getuid?.() !== 0)("what root leaves of a load belongs to whom the data belong", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "nft-index-load-"));
  const deployment = { schema_name: "onchain_mainnet_0_1", created_at: new Date(0) };
  const directory = loadDirectoryOf({ dataDir }, deployment);
  const file = join(directory, "0.movements");
  try {
    await giveLoadToOwner({ dataDir: join(dataDir, "missing") }, deployment);
    await chown(dataDir, 1234, 1235);
    // A load that is complete leaves nothing, and one of a short history never began.
    await giveLoadToOwner({ dataDir }, deployment);
    await mkdir(directory, { recursive: true });
    await writeFile(file, "");
    await giveLoadToOwner({ dataDir }, deployment);
    for (const path of [dirname(directory), directory, file])
      expect(await stat(path)).toMatchObject({ uid: 1234, gid: 1235 });
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test.skipIf(process.getuid?.() !== 0)("what is root's behind a link in a load's place stays root's", async () => {
  const [dataDir, ours] = await Promise.all(
    ["data", "ours"].map((name) => mkdtemp(join(tmpdir(), `nft-index-${name}-`))),
  );
  const deployment = { schema_name: "onchain_mainnet_0_1", created_at: new Date(0) };
  const directory = loadDirectoryOf({ dataDir: dataDir! }, deployment);
  const file = join(ours!, "file");
  try {
    await writeFile(file, "");
    await chown(dataDir!, 1234, 1235);
    await mkdir(directory, { recursive: true });
    await symlink(file, join(directory, "0.movements"));
    await giveLoadToOwner({ dataDir: dataDir! }, deployment);
    await rm(directory, { recursive: true });
    await symlink(ours!, directory);
    await giveLoadToOwner({ dataDir: dataDir! }, deployment);
    for (const path of [ours!, file]) expect(await stat(path)).toMatchObject({ uid: 0 });
  } finally {
    await Promise.all([rm(dataDir!, { recursive: true }), rm(ours!, { recursive: true })]);
  }
});
