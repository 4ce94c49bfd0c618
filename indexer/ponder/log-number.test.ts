import { expect, test } from "vitest";
import { numberLogs } from "./log-number.ts";

const log = (transactionIndex: number, logIndex: number, topic = "0xa") => ({
  blockHash: "0x01",
  transactionHash: `0x${transactionIndex}`,
  transactionIndex: `0x${transactionIndex}`,
  logIndex: `0x${logIndex}`,
  address: "0x0a",
  topics: [topic],
  data: `0x0${logIndex}`,
});
const isWanted = ({ topics }: { topics: string[] }) => topics[0] !== "0xc";
const noReceipts = () =>
  Promise.reject(Object.assign(new Error("There is no eth_getBlockReceipts"), { code: -32_601 }));
const indexesOf = (logs: { logIndex: string }[]) => logs.map(({ logIndex }) => Number(logIndex));

test("logs that are counted by the block stay as they are", async () => {
  const logs = [log(0, 0), log(0, 1), log(3, 2), { ...log(0, 0), blockHash: "0x02" }];
  expect(await numberLogs(logs, { isWanted, askForReceipts: noReceipts })).toEqual(logs);
});

test("logs that are counted by the transaction have the index that they have in the receipts", async () => {
  const all = [log(0, 0, "0xc"), log(0, 1), log(1, 0, "0xc"), log(1, 1), log(2, 0)];
  const askForReceipts = () => Promise.resolve([{ logs: all.slice(0, 2) }, { logs: null }, { logs: all.slice(2) }]);
  expect(indexesOf(await numberLogs(all, { isWanted, askForReceipts }))).toEqual([1, 3, 4]);
  // In the order of their indexes alone a later transaction would come first.
  expect(indexesOf(await numberLogs([all[1]!, all[4]!], { isWanted, askForReceipts }))).toEqual([1, 4]);
});

test("of logs without a place the receipts' own indexes are taken, also where two are the same", async () => {
  const known = [log(0, 4), log(1, 5), { ...log(1, 5), logIndex: "0x6" }];
  const placeless = known.map((one) => ({ ...one, logIndex: "0x0", transactionIndex: "0x0" }));
  const askForReceipts = () => Promise.resolve([{ logs: known }]);
  expect(await numberLogs(placeless, { isWanted, askForReceipts })).toEqual(known);
});

test("logs aren't left as they are where receipts can't be had just now", async () => {
  const logs = [log(0, 1), log(1, 0)];
  const failing = (fault: object) => () => Promise.reject(Object.assign(new Error("A fault"), fault));
  for (const refusal of [{ code: -32_601 }, { code: 4444 }, { status: 400 }])
    expect(await numberLogs(logs, { isWanted, askForReceipts: failing(refusal) })).toEqual(logs);
  for (const fault of [{}, { status: 503 }, { status: 429 }, { code: -1 }, { code: 429 }])
    await expect(numberLogs(logs, { isWanted, askForReceipts: failing(fault) })).rejects.toThrow("A fault");
});

test("receipts are asked for only where wanted logs are concerned, and lack none of them", async () => {
  const logs = [log(0, 0, "0xc"), log(1, 0), log(2, 0, "0xc")];
  expect(await numberLogs(logs, { isWanted, askForReceipts: noReceipts })).toEqual([logs[1]]);
  const unwanted = [logs[0]!, logs[2]!];
  expect(await numberLogs(unwanted, { isWanted, askForReceipts: noReceipts })).toEqual([logs[0]]);
  const askForReceipts = () => Promise.resolve([{ logs: [log(0, 0)] }]);
  await expect(numberLogs([log(0, 0), log(1, 0)], { isWanted, askForReceipts })).rejects.toThrow("lack logs");
});
