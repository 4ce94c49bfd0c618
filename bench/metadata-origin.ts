/** A process of its own: web servers with documents, and a node whose contracts name them. Ends with its parent. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { address } from "../test/tokens.ts";
import { serveTokenUris } from "./metadata-node.ts";

/** What the process sends once it listens. */
export type MetadataOrigin = {
  rpcUrl: string;
  /** One for each contract from address(1) on. */
  hosts: string[];
  /** Contract address(1000): documents in data: URIs. */
  dataContract: Hex;
};

const HOSTS = 20;
const DOCUMENT_BYTES = 1500;

if (process.send) {
  process.once("disconnect", () => process.exit(0));
  // The last one takes connections and says nothing, where it is asked to be dead.
  const isLastDead = process.argv.includes("--dead");
  const hosts = await Promise.all(
    Array.from({ length: HOSTS }, (_, i) => serve({ isDead: isLastDead && i === HOSTS - 1 })),
  );
  const hostOf = new Map(hosts.map((host, i) => [address(i + 1), host]));
  const node = await serveTokenUris((contract, id) => {
    const host = hostOf.get(contract);
    if (host !== undefined) return `http://${host}/${id}.json`;
    return `data:application/json;base64,${Buffer.from(documentOf(id)).toString("base64")}`;
  });
  const message: MetadataOrigin = { rpcUrl: node.url, hosts, dataContract: address(1000) };
  process.send(message);
}

/** A document as collections have it, of about 1.5 kB. */
function documentOf(id: string): string {
  const attributes = Array.from({ length: 16 }, (_, i) => ({
    trait_type: `Trait ${i}`,
    value: `Value ${(Number(id) * 7 + i) % 97}`,
  }));
  const document = { name: `Token #${id}`, description: "", image: "", attributes };
  const room = DOCUMENT_BYTES - JSON.stringify(document).length;
  return JSON.stringify({
    ...document,
    description: "A description that is as long as they are. ".repeat(20).slice(0, room),
  });
}

async function serve({ isDead }: { isDead: boolean }): Promise<string> {
  const server = createServer((request, response) => {
    if (isDead) return;
    response.setHeader("content-type", "application/json");
    response.end(documentOf(/(\d+)\.json$/.exec(request.url ?? "")?.[1] ?? "0"));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
