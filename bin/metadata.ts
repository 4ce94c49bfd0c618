/** Metadata from the command line: `npm run metadata -- explain CONTRACT ID`, `refresh CONTRACT [ID]`. */
import type { Sql } from "postgres";
import type { Hex } from "viem";
import { readConfigOrExit } from "../config.ts";
import { listIndexedNetworks } from "../offchain/network.ts";
import { tellTokenStory } from "../offchain/token/token-story.ts";
import { requestRange } from "../offchain/token/token-range.ts";
import { runCommand } from "./command.ts";
import { exit } from "./process.ts";

const USAGE = "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID]";

const [command, contract = "", id, ...rest] = process.argv.slice(2);
const isUnderstood = rest.length === 0 && ((command === "explain" && id !== undefined) || command === "refresh");
if (!isUnderstood) exit(USAGE);
if (!/^0x[\da-f]{40}$/i.test(contract)) exit(`Contract "${contract}" is invalid. Expected 0x and 40 hex digits.`);
const contractAddress = contract.toLowerCase() as Hex;
const tokenId = id === undefined ? undefined : readTokenId(id);

const config = readConfigOrExit();
await runCommand(config, (sql) => (command === "explain" ? explain(sql, tokenId!) : refresh(sql)));

async function explain(sql: Sql, token: string): Promise<void> {
  const lines = await tellTokenStory(sql, { contractAddress, tokenId: token });
  if (lines.length > 0) return console.log(lines.join("\n"));
  console.error(`Token ${token} of ${contractAddress} is unknown.`);
  process.exitCode = 1;
}

/** On every network that knows the contract. The worker takes it from there. */
async function refresh(sql: Sql): Promise<void> {
  const known = await sql<{ chain_id: number }[]>`
    select chain_id::float8 as chain_id
    from offchain.contract_metadata
    where contract_address = ${`\\x${contractAddress.slice(2)}`}::text::bytea
  `;
  const chainIds = new Set(known.map(({ chain_id }) => chain_id));
  const networks = (await listIndexedNetworks(sql)).filter(({ chain_id }) => chainIds.has(chain_id));
  if (networks.length === 0) {
    console.error(`Contract ${contractAddress} is unknown.`);
    process.exitCode = 1;
  }
  for (const { network, chain_id: chainId } of networks) {
    await requestRange(sql, { chainId, contractAddress, ...(tokenId !== undefined && { from: tokenId, to: tokenId }) });
    await sql`
      update offchain.contract_metadata
      set uri_due_at = now(), due_at = now()
      where
        chain_id = ${chainId}
        and contract_address = ${`\\x${contractAddress.slice(2)}`}::text::bytea
    `;
    console.log(
      `${network}: ${tokenId === undefined ? "all tokens" : `token ${tokenId}`} of ${contractAddress} queued.`,
    );
  }
}

function readTokenId(text: string): string {
  if (/^\d{1,78}$/.test(text) || /^0x[\da-f]{1,64}$/i.test(text)) {
    const value = BigInt(text);
    if (value < 2n ** 256n) return value.toString();
  }
  return exit(`Token id "${text}" is invalid. Expected decimal, or 0x and up to 64 hex digits.`);
}
