import { expect, test, vi } from "vitest";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { createKeyCheck } from "./key-check.ts";
import { createKey, hashKey } from "./key.ts";

// Without an API beside it: a timer of its own that it sets while they are fake would never end.
const { sql } = await useDatabase(createReadableDatabase, { max: 1 });

test("a process that couldn't ask for revoked keys for a minute asks for each key anew", async () => {
  const { key, prefix } = await createKey(sql, { name: "revoked meanwhile" });
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  const keyCheck = createKeyCheck({ sql, read: sql, apiKeys: [], log: () => {} });
  const look = keyCheck.check(key);
  expect(typeof look === "function" && (await look())).toBeTruthy();
  expect(keyCheck.check(key)).toMatchObject({ isRegistered: true });
  // Longer ago than the period that is looked at each time.
  await sql`update offchain.api_key set revoked_at = now() - interval '61 seconds' where prefix = ${prefix}`;
  vi.setSystemTime(Date.now() + 60_000);
  vi.advanceTimersByTime(2000);
  await expect.poll(() => typeof keyCheck.check(key)).toBe("function");
  vi.useRealTimers();
  await keyCheck.stop();
});

test("uses that couldn't be written are written later, at the latest when the process ends", async () => {
  const { key, prefix } = await createKey(sql, { name: "counted later" });
  const failed = Promise.withResolvers<void>();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const keyCheck = createKeyCheck({ sql, read: sql, apiKeys: [], log: () => failed.resolve() });
  const caller = { keyHash: hashKey(key), isRegistered: true };
  await sql`alter table offchain.api_key rename to api_key_hidden`;
  keyCheck.count(caller);
  keyCheck.count(caller);
  vi.advanceTimersByTime(5000);
  await failed.promise;
  vi.useRealTimers();
  await sql`alter table offchain.api_key_hidden rename to api_key`;
  keyCheck.count(caller);
  await keyCheck.stop();
  const rows = await sql`select request_count::int as request_count from offchain.api_key where prefix = ${prefix}`;
  expect(rows).toEqual([{ request_count: 3 }]);
});
