/** Verified collections: `npm run collections -- verify ADDRESS`, `unverify ADDRESS`, `list`. */
import { listVerified, setVerified } from "../api/marketplace/collection-verification.ts";
import { readConfigOrExit } from "../config.ts";
import { runCommand } from "./command.ts";
import { exit } from "./process.ts";

const USAGE = "Expected: npm run collections -- verify ADDRESS | unverify ADDRESS | list";

const [command, address, ...rest] = process.argv.slice(2);
const isUnderstood =
  rest.length === 0 &&
  (command === "list" ? address === undefined : (command === "verify" || command === "unverify") && address);
if (!isUnderstood) exit(USAGE);
if (address !== undefined && !/^0x[\da-f]{40}$/i.test(address))
  exit(`Address "${address}" is invalid. Expected 0x and 40 hex digits.`);

const config = readConfigOrExit();
await runCommand(config, async (sql) => {
  if (address === undefined) {
    for (const { contract_address, verified_at } of await listVerified(sql))
      console.log(`${contract_address}  ${verified_at.toISOString().slice(0, 19)}Z`);
  } else {
    const isVerified = command === "verify";
    await setVerified(sql, { contractAddress: address.toLowerCase(), isVerified });
    console.log(`${address.toLowerCase()} is ${isVerified ? "verified" : "not verified"}.`);
  }
});
