/** The replay server for chains of `exchange-chain.ts`: `exchange-replay.ts --data DIRECTORY --port 0`. */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { findTool } from "./chain.ts";
import { ORDER_FULFILLED } from "./exchange-chain.ts";

type Generator = { EVENT_TOPICS: string[] };
type Server = { startReplay: (options: { data: string; port: number }) => Promise<{ url: string }> };

const { values } = parseArgs({ options: { data: { type: "string" }, port: { type: "string" } } });
const load = async (name: string) => (await import(pathToFileURL(await findTool(name)).href)) as unknown;
// An event's place in this list is its kind in the chain's files; the server has the same list.
((await load("gen.mjs")) as Generator).EVENT_TOPICS.push(ORDER_FULFILLED);
const { startReplay } = (await load("replay.mjs")) as Server;
const { url } = await startReplay({ data: values.data ?? "", port: Number(values.port ?? 0) });
console.log(`replay at ${url}`);
