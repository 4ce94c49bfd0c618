import {
  type Address,
  createTestClient,
  type Hex,
  http,
  publicActions,
  type TransactionReceipt,
  walletActions,
} from "viem";

/** Sends and mines. Nothing else mines on the demo chain. */
export type Miner = ReturnType<typeof createMiner>;

/** A transaction as anvil takes it: it holds the senders' keys and signs by itself. */
export type DemoTransaction = { from: Address; to?: Address; data: Hex; value?: bigint };

/** Enough for the largest deployment; never asked from the node, which would double the requests. */
const GAS = 8_000_000n;

/** Creates the miner of an anvil that mines nothing by itself. */
export function createMiner(rpcUrl: string) {
  const client = createTestClient({ mode: "anvil", transport: http(rpcUrl, { timeout: 30_000 }) })
    .extend(publicActions)
    .extend(walletActions);
  const nonces = new Map<Address, number>();
  let lastTimestamp = 0n;

  /**
   * One block with these transactions in this order.
   *
   * @param options.timestamp Unix seconds; moved on where the block before is not older
   * @throws Error when one of them failed or was left out
   */
  async function mineBlock({
    transactions,
    timestamp,
  }: {
    transactions: readonly DemoTransaction[];
    timestamp: bigint;
  }): Promise<TransactionReceipt[]> {
    const hashes: Hex[] = [];
    for (const transaction of transactions) hashes.push(await send(transaction));
    lastTimestamp = timestamp > lastTimestamp ? timestamp : lastTimestamp + 1n;
    await client.setNextBlockTimestamp({ timestamp: lastTimestamp });
    await client.mine({ blocks: 1 });

    const receipts: TransactionReceipt[] = [];
    for (const hash of hashes) {
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status !== "success") throw new Error(`Transaction ${hash} of the demo failed.`);
      receipts.push(receipt);
    }
    return receipts;
  }

  async function send({ from, to, data, value }: DemoTransaction): Promise<Hex> {
    const sendAs = async (nonce: number) => {
      const hash = await client.request<{ Method: "eth_sendTransaction"; Parameters: [unknown]; ReturnType: Hex }>({
        method: "eth_sendTransaction",
        params: [{ from, to, data, value: toHex(value), gas: toHex(GAS), nonce: toHex(nonce) }],
      });
      nonces.set(from, nonce + 1);
      return hash;
    };
    const askNonce = () => client.getTransactionCount({ address: from, blockTag: "pending" });
    // Counted here: anvil would give two transactions of one block the same nonce. Where somebody else has sent from the
    // account since, anvil refuses ours.
    const nonce = nonces.get(from);
    return nonce === undefined ? sendAs(await askNonce()) : sendAs(nonce).catch(async () => sendAs(await askNonce()));
  }

  return { client, mineBlock };
}

function toHex(value: bigint | number | undefined): Hex | undefined {
  return value === undefined ? undefined : `0x${value.toString(16)}`;
}
