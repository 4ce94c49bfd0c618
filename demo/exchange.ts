import { LocalConduitController__factory } from "@opensea/seaport-js/lib/typechain-types/factories/seaport/contracts/conduit/ConduitController.sol/LocalConduitController__factory.js";
import { Seaport__factory } from "@opensea/seaport-js/lib/typechain-types/factories/seaport/contracts/Seaport__factory.js";
import { type Address, concat, type Hex, pad, parseAbi } from "viem";
import { MULTICALL3_ADDRESS } from "../abis/multicall3.ts";
import { CONDUIT_CONTROLLER_ADDRESS } from "../abis/seaport.ts";
import { encodeDeployment } from "./artifacts.ts";
import type { Miner } from "./miner.ts";

/** Seaport 1.6, where it is on every chain. */
export const SEAPORT_ADDRESS: Address = "0x0000000000000068f116a894984e2db1123eb395";
/** Where mainnet has its wrapped ether. */
export const WRAPPED_ETHER_ADDRESS: Address = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";

/** Source: Seaport's ConduitControllerInterface. */
export const conduitControllerAbi = parseAbi([
  "function createConduit(bytes32 conduitKey, address initialOwner) returns (address conduit)",
  "function updateChannel(address conduit, address channel, bool isOpen)",
  "function getConduit(bytes32 conduitKey) view returns (address conduit, bool exists)",
]);

/** Puts the contracts that live at one address on every chain there, each in a block of its own. */
export async function putCanonicalContracts(
  miner: Miner,
  options: { from: Address; timestamp: bigint },
): Promise<void> {
  const seaportArgs = pad(CONDUIT_CONTROLLER_ADDRESS);
  const contracts: [Address, Hex][] = [
    [MULTICALL3_ADDRESS, encodeDeployment("Multicall3")],
    [WRAPPED_ETHER_ADDRESS, encodeDeployment("WrappedEther")],
    [CONDUIT_CONTROLLER_ADDRESS, LocalConduitController__factory.bytecode],
    [SEAPORT_ADDRESS, concat([Seaport__factory.bytecode, seaportArgs])],
  ];
  for (const [address, creationCode] of contracts) await putContract(miner, { address, creationCode, ...options });
}

/**
 * A contract at an address of our choice, as if it had been created there. The creation code is put there and called:
 * its constructor then writes this address's storage and returns the code to stay, which holds this address too where
 * the contract keeps it (Seaport's signature domain does).
 */
async function putContract(
  { client, mineBlock }: Miner,
  { address, creationCode, from, timestamp }: { address: Address; creationCode: Hex; from: Address; timestamp: bigint },
): Promise<void> {
  await client.setCode({ address, bytecode: creationCode });
  const { data: bytecode } = await client.call({ to: address, account: from });
  if (!bytecode) throw new Error(`The creation code for ${address} returns nothing. Expected the contract's code.`);
  await mineBlock({ transactions: [{ from, to: address, data: "0x" }], timestamp });
  await client.setCode({ address, bytecode });
}
