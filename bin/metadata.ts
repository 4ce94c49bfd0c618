/** Metadata from the command line: `npm run metadata -- explain CONTRACT ID`, `refresh CONTRACT [ID]`, `retry`. */
import type { Sql } from "postgres";
import type { Hex } from "viem";
import { Address, TokenId } from "../api/http/parameter.ts";
import { readConfigOrExit } from "../environment.ts";
import { listContractChains, requestContract } from "../offchain/contract/contract-request.ts";
import { listIndexedNetworks } from "../offchain/network.ts";
import { type PutOff, retryPutOff, SOON_SECONDS } from "../offchain/put-off.ts";
import { requestRange } from "../offchain/token/token-range.ts";
import { readTokenStories } from "../offchain/token/token-story.ts";
import { runCommand } from "./command.ts";
import { exit, exitWithHelp, parseOrExit } from "./process.ts";
import { tellTokenStory } from "./token-story-text.ts";

const USAGE = "Expected: npm run metadata -- explain CONTRACT ID | refresh CONTRACT [ID] | retry";

exitWithHelp(USAGE);
const [command, contract, id, ...rest] = process.argv.slice(2);
const isUnderstood =
  rest.length === 0 &&
  ((command === "explain" && id !== undefined) ||
    command === "refresh" ||
    (command === "retry" && contract === undefined));
if (!isUnderstood) exit(USAGE);
const contractAddress = command === "retry" ? undefined : (parseOrExit(Address, contract) as Hex);
const tokenId = parseOrExit(TokenId.optional(), id);

const config = readConfigOrExit();
await runCommand(config, async (sql) => {
  if (contractAddress === undefined) await retry(sql);
  else if (command === "explain") await explain(sql, { contractAddress, tokenId: tokenId! });
  else await refresh(sql, { contractAddress, tokenId });
});

async function explain(sql: Sql, token: { contractAddress: Hex; tokenId: string }): Promise<void> {
  const lines = await tellTokenStory(sql, token);
  if (lines.length === 0) return tellUnknown(token);
  console.log(lines.join("\n"));
}

/** On every network that knows the contract, or the token. The worker takes it from there. */
async function refresh(
  sql: Sql,
  { contractAddress, tokenId }: { contractAddress: Hex; tokenId: string | undefined },
): Promise<void> {
  const chainIds =
    tokenId === undefined
      ? await listContractChains(sql, { contractAddress })
      : (await readTokenStories(sql, { contractAddress, tokenId })).flatMap(({ chain_id, is_dropped }) =>
          is_dropped ? [] : chain_id,
        );
  const networks = (await listIndexedNetworks(sql)).filter(({ chain_id }) => chainIds.includes(chain_id));
  if (networks.length === 0) tellUnknown({ contractAddress, tokenId });
  for (const { network, chain_id: chainId } of networks) {
    await requestRange(sql, { chainId, contractAddress, ...(tokenId !== undefined && { from: tokenId, to: tokenId }) });
    await requestContract(sql, { chainId, contractAddress });
    console.log(
      `${network}: ${tokenId === undefined ? "all tokens" : `token ${tokenId}`} of ${contractAddress} queued.`,
    );
  }
}

/** On every network. */
async function retry(sql: Sql): Promise<void> {
  for (const { network, chain_id: chainId } of await listIndexedNetworks(sql)) {
    const tell = ({ documents, media, contracts }: PutOff) =>
      `${network}: ${documents} documents, media of ${media} tokens and ${contracts} readings of contracts`;
    const done = await retryPutOff(sql, { chainId, onProgress: (soFar) => console.error(`${tell(soFar)} so far`) });
    console.log(`${tell(done)} are due now. What was due within ${SOON_SECONDS / 60} minutes stays so.`);
  }
}

function tellUnknown({ contractAddress, tokenId }: { contractAddress: Hex; tokenId: string | undefined }): void {
  const what = tokenId === undefined ? `Contract ${contractAddress}` : `Token ${tokenId} of ${contractAddress}`;
  console.error(`${what} is unknown.`);
  process.exitCode = 1;
}
