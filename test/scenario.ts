import { encodeAbiParameters, type Hex, parseAbiParameters, zeroAddress } from "viem";
import type { Call, Contract, TestChain } from "./chain.ts";
import { batchLog, consecutiveLog, type LogToWrite, logOf, singleLog, transferLog, word, words } from "./raw-log.ts";
import type { Artifact } from "./solidity.ts";

/** Contracts that the scenario needs, by name of their file. */
export const SCENARIO_CONTRACTS = [
  "Deed",
  "Edition",
  "Parade",
  "Kitten",
  "Coin",
  "PunkMarket",
  "FirstPunkMarket",
  "Hybrid",
  "Emitter",
] as const;
type Artifacts = Record<(typeof SCENARIO_CONTRACTS)[number], Artifact>;

/** The largest id and the largest quantity. */
export const MAX = 2n ** 256n - 1n;

/** The two markets, whose addresses an indexer has to be told. */
type Markets = { market: Contract; firstMarket: Contract };

/** The contracts of a scenario, all of which have moved tokens. */
export type Scenario = Markets & {
  deed: Contract;
  edition: Contract;
  parade: Contract;
  kitten: Contract;
  coin: Contract;
  hybrid: Contract;
  emitter: Contract;
};

/** Puts both markets on a chain. */
export async function deployMarkets(chain: TestChain, artifacts: Artifacts): Promise<Markets> {
  return {
    market: await chain.deploy(artifacts.PunkMarket),
    firstMarket: await chain.deploy(artifacts.FirstPunkMarket),
  };
}

/** Everything that tokens do, the well-behaved and the hostile, on contracts of its own. `rangeTokens`: in one log. */
export async function playScenario(
  chain: TestChain,
  artifacts: Artifacts,
  markets: Markets,
  { rangeTokens = 10_000n }: { rangeTokens?: bigint } = {},
): Promise<Scenario> {
  const [anne, ben] = chain.accounts as [Hex, Hex];
  const scenario: Scenario = {
    ...markets,
    deed: await chain.deploy(artifacts.Deed),
    edition: await chain.deploy(artifacts.Edition),
    parade: await chain.deploy(artifacts.Parade, anne, 50n),
    kitten: await chain.deploy(artifacts.Kitten),
    coin: await chain.deploy(artifacts.Coin),
    hybrid: await chain.deploy(artifacts.Hybrid),
    emitter: await chain.deploy(artifacts.Emitter),
  };
  await playDeed(chain, scenario);
  await playParade(chain, scenario);
  await playEdition(chain, scenario);
  await playKitten(chain, scenario);
  await playMarket(chain, scenario.market);
  await playMarket(chain, scenario.firstMarket);
  await chain.mine(
    { to: scenario.coin, name: "transfer", args: [ben, 500n] },
    { to: scenario.hybrid, name: "move", args: [anne, 1n] },
    { to: scenario.hybrid, name: "move", args: [ben, 1n] },
  );
  await playHostile(chain, scenario, { rangeTokens });
  return scenario;
}

async function playDeed(chain: TestChain, { deed }: Scenario): Promise<void> {
  const [anne, ben, cleo] = chain.accounts as [Hex, Hex, Hex];
  const call = (name: string, args: unknown[], from: Hex = anne): Call => ({ to: deed, name, args, from });
  await chain.mine(
    call("mint", [anne, 0n]),
    call("mint", [anne, 1n]),
    call("mint", [anne, 2n]),
    call("mint", [ben, 3n]),
    call("mint", [ben, MAX]),
    call("transferFrom", [anne, ben, 1n]),
    call("transferFrom", [ben, cleo, 1n], ben),
  );
  await chain.mine(
    call("transferFrom", [anne, anne, 0n]),
    call("transferFrom", [ben, cleo, MAX], ben),
    call("burn", [2n]),
    call("burn", [3n]),
    call("mintAndBurn", [cleo, 4n]),
  );
  // Burned and minted again, for another.
  await chain.mine(call("mint", [cleo, 2n]), call("transferFrom", [cleo, anne, 2n], cleo));
  await chain.mine(
    call("touch", [1n]),
    call("touchRange", [0n, MAX]),
    call("touchRange", [5n, 5n]),
    call("touchRange", [9n, 5n]),
    call("touchContract", []),
  );
}

async function playParade(chain: TestChain, { parade }: Scenario): Promise<void> {
  const [anne, ben, cleo] = chain.accounts as [Hex, Hex, Hex];
  const call = (name: string, args: unknown[], from: Hex = anne): Call => ({ to: parade, name, args, from });
  await chain.mine(
    call("transferFrom", [anne, ben, 0n]),
    call("transferFrom", [anne, ben, 25n]),
    call("transferFrom", [anne, cleo, 49n]),
    call("burn", [25n], ben),
    call("burn", [10n]),
    call("mint", [cleo, 3n]),
  );
  await chain.mine(call("transferFrom", [ben, anne, 0n], ben), call("burn", [51n], cleo));
}

async function playEdition(chain: TestChain, { edition }: Scenario): Promise<void> {
  const [anne, ben, cleo, dora] = chain.accounts as [Hex, Hex, Hex, Hex];
  const call = (name: string, args: unknown[], from: Hex = anne): Call => ({ to: edition, name, args, from });
  const sendBatch = (from: Hex, to: Hex, ids: bigint[], values: bigint[]) =>
    call("safeBatchTransferFrom", [from, to, ids, values, "0x"], from);
  await chain.mine(
    call("mint", [anne, 1n, 100n]),
    call("mintBatch", [anne, [1n, 2n, 2n, MAX], [5n, 7n, 11n, 1n]]),
    call("mint", [ben, 3n, MAX]),
    call("safeTransferFrom", [anne, ben, 1n, 30n, "0x"]),
  );
  await chain.mine(
    sendBatch(anne, cleo, [1n, 1n, 2n], [10n, 20n, 0n]),
    sendBatch(ben, dora, [1n, 3n], [30n, MAX]),
    // Nothing, to an account that then still holds nothing.
    call("safeTransferFrom", [anne, dora, 2n, 0n, "0x"]),
    call("safeTransferFrom", [cleo, cleo, 1n, 15n, "0x"], cleo),
    call("mint", [ben, 9n, 0n]),
  );
  await chain.mine(
    call("burn", [anne, 2n, 18n]),
    call("burnBatch", [cleo, [1n, 1n], [10n, 5n]]),
    sendBatch(anne, ben, [], []),
    call("touch", [2n]),
  );
}

async function playKitten(chain: TestChain, { kitten }: Scenario): Promise<void> {
  const [anne, ben, cleo] = chain.accounts as [Hex, Hex, Hex];
  await chain.mine(
    { to: kitten, name: "mint", args: [anne, 1n] },
    { to: kitten, name: "mint", args: [anne, 2n] },
    { to: kitten, name: "transfer", args: [ben, 1n] },
    { to: kitten, name: "transfer", args: [cleo, 1n], from: ben },
    { to: kitten, name: "transfer", args: [anne, 2n] },
  );
}

async function playMarket(chain: TestChain, market: Contract): Promise<void> {
  const [anne, ben, cleo, dora] = chain.accounts as [Hex, Hex, Hex, Hex];
  const call = (name: string, args: unknown[], from: Hex = anne, value = 0n): Call => ({
    to: market,
    name,
    args,
    from,
    value,
  });
  await chain.mine(...[0n, 1n, 2n, 3n].map((punk) => call("assign", [anne, punk])));
  await chain.mine(
    call("transferPunk", [ben, 1n]),
    call("offer", [0n, 5n]),
    call("buy", [0n], cleo, 5n),
    call("offer", [3n, 5n]),
    call("transferPunk", [dora, 3n]),
  );
  // Bids of two accounts accepted in one block, with other movements between them.
  await chain.mine(
    call("enterBid", [2n], dora, 7n),
    call("enterBid", [1n], cleo, 8n),
    call("acceptBid", [2n]),
    call("transferPunk", [anne, 3n], dora),
    call("acceptBid", [1n], ben),
  );
  // The one who bought by bid sells on.
  await chain.mine(
    call("offer", [2n, 1n], dora),
    call("buy", [2n], anne, 1n),
    call("offer", [2n, 0n]),
    call("buy", [2n], ben),
  );
}

/** Logs that no honest contract would write. Everything well-formed after them must still be read. */
async function playHostile(
  chain: TestChain,
  { emitter }: Scenario,
  { rangeTokens }: { rangeTokens: bigint },
): Promise<void> {
  const [anne, ben, cleo, dora] = chain.accounts as [Hex, Hex, Hex, Hex];
  const write = (...logs: LogToWrite[]): Call => ({ to: emitter, name: "write", args: [logs] });
  const dirty = (account: Hex): Hex => `0x${"ff".repeat(12)}${account.slice(2)}`;

  await chain.mine(
    write(
      transferLog(zeroAddress, anne, 1n),
      // By somebody who isn't the owner.
      transferLog(ben, cleo, 1n),
      // Minted once more without a burn.
      transferLog(zeroAddress, dora, 1n),
      // Never minted.
      transferLog(anne, ben, 2n),
      transferLog(anne, zeroAddress, 3n),
      transferLog(zeroAddress, zeroAddress, 4n),
      transferLog(zeroAddress, anne, MAX),
    ),
    write(
      // ERC-721 with data behind it: one token moves, not two.
      transferLog(zeroAddress, anne, 5n, words(zeroAddress, ben, 6n)),
      // ERC-20, and shapes between the standards.
      logOf("Transfer(address,address,uint256)", [anne, ben], words(7n)),
      logOf("Transfer(address,address,uint256)", [anne], words(ben, 7n)),
      logOf("Transfer(address,address,uint256)", [], words(anne, ben)),
      logOf("Transfer(address,address,uint256)", [anne, ben], words(anne, ben, 7n)),
      logOf("Transfer(address,address,uint256)", []),
      { topics: [], data: "0x" },
      // What stands before the 20 bytes of an address is of no account.
      transferLog(dirty(zeroAddress), dirty(anne), 8n),
      logOf("Transfer(address,address,uint256)", [], words(dirty(anne), dirty(cleo), 8n)),
    ),
  );

  await chain.mine(
    write(
      consecutiveLog(zeroAddress, anne, 0n, MAX),
      consecutiveLog(zeroAddress, anne, 9n, 3n),
      consecutiveLog(zeroAddress, anne, 1_000n, 11_000n),
      consecutiveLog(zeroAddress, anne, 20_000n, 20_000n + rangeTokens - 1n),
      consecutiveLog(anne, ben, 20_000n, 20_010n),
      consecutiveLog(cleo, zeroAddress, 20_005n, 20_006n),
      consecutiveLog(zeroAddress, anne, MAX, MAX),
      logOf("ConsecutiveTransfer(uint256,uint256,address,address)", [1n, anne, ben]),
    ),
  );

  const batch = [
    [70n, 71n, 70n],
    [1n, 2n, 3n],
  ] as [bigint[], bigint[]];
  const [first, second] = [64n, 64n + 4n * 32n];
  await chain.mine(
    write(
      batchLog(zeroAddress, anne, batch),
      batchLog(zeroAddress, anne, [[72n, 73n], [1n]]),
      batchLog(zeroAddress, anne, [[], [1n]]),
      batchLog(zeroAddress, anne, [[], []]),
      // Arrays that aren't where they should be, or not as long as they say.
      batchLog(zeroAddress, anne, "0x"),
      batchLog(zeroAddress, anne, words(64n)),
      batchLog(zeroAddress, anne, words(MAX, MAX)),
      batchLog(zeroAddress, anne, words(2n ** 52n, 64n, 0n)),
      batchLog(zeroAddress, anne, words(64n, 64n, MAX)),
      batchLog(zeroAddress, anne, words(64n, 64n, 2n ** 40n, 1n)),
      batchLog(zeroAddress, anne, words(64n, 128n, 1n, 74n, 2n, 1n)),
      batchLog(zeroAddress, anne, words(first, second, 3n, 75n, 76n, 77n, 3n, 1n, 1n)),
      // Both arrays in one place, which is odd and means something.
      batchLog(zeroAddress, anne, words(64n, 64n, 2n, 78n, 79n)),
      logOf("TransferSingle(address,address,address,uint256,uint256)", [anne, zeroAddress, anne], words(80n)),
      logOf("TransferSingle(address,address,address,uint256,uint256)", [anne, zeroAddress, anne]),
      // Read as if nothing had happened.
      batchLog(anne, ben, batch),
      singleLog(zeroAddress, anne, 81n, 4n),
    ),
    write(
      batchLog(zeroAddress, cleo, [
        [82n, 83n],
        [10n, 20n],
      ]),
      batchLog(zeroAddress, zeroAddress, [[84n], [1n]]),
    ),
  );

  await chain.mine(
    write(
      ...[1, 2, 3].map(() => singleLog(zeroAddress, anne, 90n, MAX)),
      singleLog(anne, ben, 90n, MAX),
      singleLog(anne, ben, 90n, MAX),
      singleLog(dora, cleo, 90n, 3n),
      singleLog(dora, dora, 91n, 3n),
      singleLog(anne, zeroAddress, 92n, 5n),
      singleLog(anne, ben, 93n, 0n),
      singleLog(zeroAddress, anne, MAX, MAX),
      batchLog(ben, ben, [
        [90n, 90n],
        [MAX, MAX],
      ]),
    ),
    // One contract, two standards for the same token: the first one counts, token by token.
    write(
      transferLog(zeroAddress, anne, 95n),
      singleLog(zeroAddress, anne, 95n, 1n),
      singleLog(zeroAddress, anne, 96n, 1n),
      transferLog(anne, ben, 96n),
      batchLog(zeroAddress, anne, [
        [95n, 97n],
        [1n, 1n],
      ]),
    ),
  );

  await chain.mine({ to: emitter, name: "writeBatch", args: [dora, 100_000n, 10_000n] });
  await chain.mine({ to: emitter, name: "writeBatch", args: [dora, 200_000n, 10_001n] });

  await chain.mine(
    write(
      logOf("URI(string,uint256)", [90n], encodeAbiParameters(parseAbiParameters("bytes"), ["0x00ff00fe"])),
      logOf("MetadataUpdate(uint256)", []),
      logOf("BatchMetadataUpdate(uint256,uint256)", [], words(3n)),
      { topics: [word(1n), word(2n)], data: "0x00" },
    ),
  );
}
