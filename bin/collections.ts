/** Verified collections: `npm run collections -- verify ADDRESS`, `unverify ADDRESS`, `list`. */
import { listVerified, setVerified } from "../api/marketplace/collection-verification.ts";
import { Address } from "../api/http/parameter.ts";
import { readConfigOrExit } from "../environment.ts";
import { runCommand } from "./command.ts";
import { exit, exitWithHelp, parseOrExit } from "./process.ts";
import { printTable } from "./table.ts";
import { formatTimestamp } from "./timestamp.ts";

const USAGE = "Expected: npm run collections -- verify ADDRESS | unverify ADDRESS | list";

exitWithHelp(USAGE);
const [command, address, ...rest] = process.argv.slice(2);
const isUnderstood =
  rest.length === 0 &&
  (command === "list" ? address === undefined : (command === "verify" || command === "unverify") && address);
if (!isUnderstood) exit(USAGE);
const contractAddress = parseOrExit(Address.optional(), address);

const config = readConfigOrExit();
await runCommand(config, async (sql) => {
  if (contractAddress === undefined) {
    const rows = await listVerified(sql);
    printTable(
      ["ADDRESS", "VERIFIED"],
      rows.map(({ contract_address, verified_at }) => [contract_address, formatTimestamp(verified_at)]),
    );
  } else {
    const isVerified = command === "verify";
    await setVerified(sql, { contractAddress, isVerified });
    console.log(`${contractAddress} is ${isVerified ? "verified" : "not verified"}.`);
  }
});
