type Call = { method: string; params: unknown[] };
type Answer = { id: number; result?: unknown };
/** An error of viem: what the node says is in `details`. */
type Refusal = Error & { details?: string };
type Client = { request: (options: { body: Call | Call[] }) => Promise<unknown> };

/**
 * A client of Ponder's whose queries for logs ask for their last block, too. A node that doesn't have that block yet says
 * nothing of it, and gives the logs up to its own head or none, which Ponder would take for all there are, for good: of a
 * range, and of a block whose bloom says nothing. Both go in one batch, because behind one URL each request may reach
 * another node; where that isn't answered, the block first. An answer with as many logs as providers cut answers short at
 * is asked for again in halves.
 *
 * Ponder loads it as text: it uses nothing outside of itself.
 *
 * @throws Error where the block isn't there, from the request, which Ponder tries again
 */
export function withRangeEnd(client: Client): Client {
  const ROUND_COUNT = 500;
  /** In the words of Erigon, Infura, Nethermind, Alchemy and others. */
  const TOO_MANY =
    /(too many|more than [\d,]+|max) (logs|results|events)|(logs|results|response) .*(large|big|size|exceed|limit)/i;

  const request: Client["request"] = async (options) => {
    const { body } = options;
    if ("method" in body && body.method === "eth_getBlockByNumber")
      return client.request(options).catch((error: Error) => {
        const [number, ...others] = body.params;
        if (!/null round/i.test(error.message)) throw error;
        const before = `0x${(Number(number) - 1).toString(16)}`;
        return request({ ...options, body: { ...body, params: [before, ...others] } });
      });
    const filter = "method" in body && body.method === "eth_getLogs" ? body.params[0] : undefined;
    const { fromBlock, toBlock, blockHash } = (filter ?? {}) as Record<string, string | undefined>;
    if (blockHash !== undefined) return askForBlockLogs(options, blockHash);
    if (toBlock === undefined) return client.request(options);
    const end = { method: "eth_getBlockByNumber", params: [toBlock, false] };
    const logs = (await askWithEnd(options, end)) as unknown[];
    const [first, last] = [Number(fromBlock), Number(toBlock)];
    if (first === last || !logs?.length || logs.length % ROUND_COUNT > 0) return logs;
    const middle = Math.floor((first + last) / 2);
    const halves = [
      { fromBlock, toBlock: `0x${middle.toString(16)}` },
      { fromBlock: `0x${(middle + 1).toString(16)}`, toBlock },
    ];
    const parts = halves.map((half) =>
      request({ ...options, body: { ...(body as Call), params: [Object.assign({}, filter, half)] } }),
    );
    return (await Promise.all(parts)).flat();
  };

  const askForBlockLogs = async (options: { body: Call | Call[] }, blockHash: string): Promise<unknown> => {
    const asked = askWithEnd(options, { method: "eth_getBlockByHash", params: [blockHash, false] });
    const told = await asked.catch((error: Error) => error);
    const count = Array.isArray(told) ? told.length : 0;
    const isCut = count > 0 && count % ROUND_COUNT === 0;
    const isRefused = told instanceof Error && TOO_MANY.test((told as Refusal).details ?? told.message);
    const call = { method: "eth_getBlockReceipts", params: [blockHash] };
    const receipts = isCut || isRefused ? await client.request({ ...options, body: call }).catch(() => null) : null;
    const whole = (receipts as { logs: unknown[] }[] | null)?.flatMap(({ logs }) => logs);
    if (whole && (isRefused || whole.length > count)) return whole;
    if (told instanceof Error) throw told;
    return told;
  };

  const askWithEnd = async (options: { body: Call | Call[] }, end: Call): Promise<unknown> => {
    const requireEnd = (block: unknown) => {
      const name = end.method === "eth_getBlockByHash" ? end.params[0] : Number(end.params[0]);
      if (!block) throw new Error(`Block ${String(name)}, up to which logs are wanted, isn't there yet`);
    };

    const answers = await client.request({ ...options, body: [options.body as Call, end] }).catch((error: Error) => {
      if (error.name === "TimeoutError") throw error;
    });
    if (Array.isArray(answers) && answers.length === 2) {
      const [logs, block] = (answers as Answer[]).toSorted((a, b) => a.id - b.id);
      if (block!.result === null) requireEnd(block!.result);
      if (block!.result && logs!.result) return logs!.result;
    }
    // It takes no batches, or refuses the query: why, is what it says to it alone.
    requireEnd(await request({ ...options, body: end }));
    return client.request(options);
  };
  return { ...client, request };
}
