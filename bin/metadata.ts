/** Metadata from the command line: `npm run metadata -- explain CONTRACT ID`, `refresh CONTRACT [ID]`. */
import type { Sql } from "postgres";
import type { Hex } from "viem";
import { Address, TokenId } from "../api/http/parameter.ts";
import { readConfigOrExit } from "../environment.ts";
import { listContractChains, requestContract } from "../offchain/contract/contract-request.ts";
import { listIndexedNetworks } from "../offchain/network.ts";
import { requestRange } from "../offchain/token/token-range.ts";
import { readTokenStories } from "../offchain/token/token-story.ts";
import { runCommand } from "./command.ts";
import { exit, exitWithHelp, parseOrExit } from "./process.ts";
import { tellTokenStory } from "./token-story-text.ts";

const USAGE = "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID]";

exitWithHelp(USAGE);
const [command, contract, id, ...rest] = process.argv.slice(2);
const isUnderstood = rest.length === 0 && ((command === "explain" && id !== undefined) || command === "refresh");
if (!isUnderstood) exit(USAGE);
const contractAddress = parseOrExit(Address, contract) as Hex;
const tokenId = parseOrExit(TokenId.optional(), id);

const config = readConfigOrExit();
await runCommand(config, (sql) => (command === "explain" ? explain(sql, tokenId!) : refresh(sql)));

async function explain(sql: Sql, token: string): Promise<void> {
  const lines = await tellTokenStory(sql, { contractAddress, tokenId: token });
  if (lines.length === 0) return tellUnknown();
  console.log(lines.join("\n"));
}

/** On every network that knows the contract, or the token. The worker takes it from there. */
async function refresh(sql: Sql): Promise<void> {
  const chainIds =
    tokenId === undefined
      ? await listContractChains(sql, { contractAddress })
      : (await readTokenStories(sql, { contractAddress, tokenId })).flatMap(({ chain_id, is_dropped }) =>
          is_dropped ? [] : chain_id,
        );
  const networks = (await listIndexedNetworks(sql)).filter(({ chain_id }) => chainIds.includes(chain_id));
  if (networks.length === 0) tellUnknown();
  for (const { network, chain_id: chainId } of networks) {
    await requestRange(sql, { chainId, contractAddress, ...(tokenId !== undefined && { from: tokenId, to: tokenId }) });
    await requestContract(sql, { chainId, contractAddress });
    console.log(
      `${network}: ${tokenId === undefined ? "all tokens" : `token ${tokenId}`} of ${contractAddress} queued.`,
    );
  }
}

function tellUnknown(): void {
  const what = tokenId === undefined ? `Contract ${contractAddress}` : `Token ${tokenId} of ${contractAddress}`;
  console.error(`${what} is unknown.`);
  process.exitCode = 1;
}
