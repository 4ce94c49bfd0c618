import { numberToHex } from "viem";
import { serveNode } from "./node-server.ts";

type Call = { id: unknown; method: string; params?: unknown[] };
type Range = { fromBlock?: string; toBlock?: string };
type Answer = { id: unknown; result?: unknown; error?: unknown };

/** Of the numbers in so many the last ones have no block. */
const EVERY = 7;
const TAKEN = 5;

const isSkipped = (number: number) => number % EVERY >= TAKEN;
/** The number that it gives to a block of the node behind it. */
export const shownNumber = (number: number) => number + Math.floor(number / TAKEN) * (EVERY - TAKEN);
/** That node's block of a number, or the last one before it. */
const realNumber = (shown: number) => Math.floor(shown / EVERY) * TAKEN + Math.min(shown % EVERY, TAKEN - 1);

/** A node that numbers another one's blocks as Filecoin does: some numbers are of none, and it answers an error for them. */
export async function startSkippingNode(target: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const toReal = (number: unknown) =>
    typeof number === "string" && number.startsWith("0x") ? numberToHex(realNumber(Number(number))) : number;
  const translate = (call: Call): Call => {
    const [first, ...others] = call.params ?? [];
    if (call.method === "eth_getBlockByNumber") return { ...call, params: [toReal(first), ...others] };
    const { fromBlock, toBlock } = (first ?? {}) as Range;
    if (call.method !== "eth_getLogs" || fromBlock === undefined) return call;
    // The block before one that is skipped isn't in a range that begins there.
    const start = realNumber(Number(fromBlock)) + (isSkipped(Number(fromBlock)) ? 1 : 0);
    return { ...call, params: [{ ...(first as Range), fromBlock: numberToHex(start), toBlock: toReal(toBlock) }] };
  };
  const answer = async (call: Call): Promise<Answer> => {
    const number = Number(call.method === "eth_getBlockByNumber" ? call.params?.[0] : undefined);
    if (isSkipped(number))
      return {
        id: call.id,
        error: { code: 12, message: `requested epoch was a null round (${number})`, data: number },
      };
    const asked = translate(call);
    const { fromBlock, toBlock } = (asked.params?.[0] ?? {}) as Range;
    if (Number(fromBlock) > Number(toBlock)) return { id: call.id, result: [] };
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...asked }),
    });
    const text = await response.text();
    const shown = text.replaceAll(
      call.method === "eth_blockNumber"
        ? /(?<="result":)"(0x[0-9a-f]+)"/g
        : /(?<="(?:number|blockNumber)":)"(0x[0-9a-f]+)"/g,
      (_, real: string) => `"${numberToHex(shownNumber(Number(real)))}"`,
    );
    return JSON.parse(shown) as Answer;
  };

  const { url, close } = await serveNode(async (body: Call | Call[], response) => {
    const answers = await Promise.all([body].flat().map(answer)).catch(() => undefined);
    if (!answers) return response.destroy();
    const whole = answers.map((one) => ({ jsonrpc: "2.0", ...one }));
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify(Array.isArray(body) ? whole : whole[0]));
  });
  return { url, stop: close };
}
