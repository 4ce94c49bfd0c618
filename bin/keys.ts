/** API keys from the command line: `npm run keys -- create NAME`, `list`, `revoke PREFIX`. */
import type { Sql } from "postgres";
import { createKey, listKeys, revokeKey } from "../api/key/key.ts";
import { KeyBody } from "../api/key/key-body.ts";
import { ConfigError } from "../config.ts";
import { readConfigOrExit } from "../environment.ts";
import { runCommand } from "./command.ts";
import { plainText } from "./plain-text.ts";
import { exit, exitWithHelp, parseOrExit } from "./process.ts";
import { printTable } from "./table.ts";
import { formatTimestamp } from "./timestamp.ts";

const USAGE = "Expected: npm run keys -- create NAME | list | revoke PREFIX";

exitWithHelp(USAGE);
const [command, argument, ...rest] = process.argv.slice(2);
const isUnderstood =
  rest.length === 0 &&
  !argument?.startsWith("--") &&
  (command === "list" ? argument === undefined : (command === "create" || command === "revoke") && argument);
if (!isUnderstood) exit(USAGE);
const wanted = command === "create" ? parseOrExit(KeyBody, { name: argument }) : undefined;

const config = readConfigOrExit();
await runCommand(config, async (sql) => {
  if (wanted) await create(sql, wanted);
  else if (command === "revoke") await revoke(sql, argument ?? "");
  else await list(sql);
});

async function create(sql: Sql, wanted: { name: string }): Promise<void> {
  // A key that nobody has seen could be used by nobody: it is kept once it is printed.
  const { name } = await sql.begin(async (tx) => {
    const created = await createKey(tx, wanted);
    await printKey(created.key);
    return created;
  });
  console.error(`This is the key of "${name}". It is shown this once.`);
}

/** @throws ConfigError where it doesn't get out, as on a full disk or where nobody reads any more */
async function printKey(key: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(`${key}\n`, (cause) => {
      if (cause) reject(new ConfigError("The key can't be printed, and wasn't created.", { cause }));
      else resolve();
    });
  });
}

async function revoke(sql: Sql, named: string): Promise<void> {
  const prefix = await revokeKey(sql, { named });
  if (prefix !== undefined) {
    console.log(`${prefix} is revoked.`);
    return;
  }
  console.error(`There is no key with the prefix "${named}" that isn't revoked. "list" shows them.`);
  process.exitCode = 1;
}

async function list(sql: Sql): Promise<void> {
  const rows = await listKeys(sql);
  printTable(
    ["PREFIX", "NAME", "CREATED", "LAST USED", "REQUESTS", "STATE"],
    rows.map((row) => [
      row.prefix,
      // Anybody names a key.
      plainText(row.name),
      formatTimestamp(row.created_at),
      row.last_used_at ? formatTimestamp(row.last_used_at) : "-",
      String(row.request_count),
      row.revoked_at ? `revoked ${formatTimestamp(row.revoked_at)}` : "active",
    ]),
  );
}
