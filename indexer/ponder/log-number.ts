type Log = {
  blockHash: string;
  transactionHash: string;
  transactionIndex?: string | null;
  logIndex: string;
  address: string;
  topics: string[];
  data: string;
};
type Receipt = { logs: Log[] | null };

/**
 * Logs of any blocks, each with an index of its own: in blocks whose logs a node has numbered twice, or not in the order
 * of their transactions, only wanted ones, as the receipts number them where that holds for the wanted ones too. It is
 * what `history/fetch/log-number.ts` does, so that both give a log the same index.
 *
 * Ponder loads it as text: it uses nothing outside of itself.
 */
export async function numberLogs(
  logs: Log[],
  {
    isWanted,
    askForReceipts,
  }: { isWanted: (log: Log) => boolean; askForReceipts: (blockHash: string) => Promise<Receipt[] | null> },
): Promise<Log[]> {
  const indexOf = ({ logIndex }: Log) => Number(logIndex);
  const transactionOf = ({ transactionIndex }: Log) => Number(transactionIndex ?? NaN);
  const isDoubted = (some: Log[]) => {
    const sorted = some.toSorted((a, b) => indexOf(a) - indexOf(b));
    return sorted.some((log, at) => {
      const before = sorted[at - 1];
      return before && (indexOf(before) === indexOf(log) || transactionOf(before) > transactionOf(log));
    });
  };
  const contentOf = ({ transactionHash, address, topics, data }: Log) =>
    [transactionHash, address, ...topics, data].join(" ").toLowerCase();

  const numberByReceipts = async (blockHash: string, wanted: Log[]): Promise<Log[]> => {
    const receipts = await askForReceipts(blockHash).catch((error: Error & { status?: number; code?: number }) => {
      const { status = 500, code = status >= 500 ? -1 : status } = error;
      // Faults and limits pass, others say that there are no receipts. -1 is viem's for what has no code.
      if ([-1, 429, -32_005].includes(code)) throw error;
      return null;
    });
    if (!receipts) return wanted;
    const all = receipts.flatMap(({ logs: own }) => own ?? []);
    const isRising = all.every((log, at) => at === 0 || indexOf(log) > indexOf(all[at - 1]!));
    const contents = new Set(wanted.map(contentOf));
    const found = all
      .map((log, at) => (isRising ? log : { ...log, logIndex: `0x${at.toString(16)}` }))
      .filter((log) => contents.has(contentOf(log)));
    if (found.length < wanted.length) throw new Error(`The receipts of block ${blockHash} lack logs of it`);
    return found;
  };

  const parts = [...Map.groupBy(logs, ({ blockHash }) => blockHash)].map(async ([blockHash, own]) => {
    if (!isDoubted(own)) return own;
    const wanted = own.filter(isWanted);
    const numbered = isDoubted(wanted) ? await numberByReceipts(blockHash, wanted) : wanted;
    // Ponder would take the node to have lost them.
    return numbered.length > 0 ? numbered : own.slice(0, 1);
  });
  return (await Promise.all(parts)).flat();
}
