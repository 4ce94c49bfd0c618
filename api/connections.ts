import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createTally } from "../net/tally.ts";
import { clientNetwork, createIsProxy, withoutMapping } from "./http/client-address.ts";

/**
 * Most requests of one connection that may wait for answers. Clients that pipeline send only a few at once. Without
 * this limit, all requests that fit into 64 kB would start before the next byte can be refused.
 */
const MAX_PIPELINED = 100;
/**
 * Connections that one client may hold. Each keeps its answer in memory until the client has read it, however slowly.
 */
export const MAX_CONNECTIONS_OF_CLIENT = 500;
/** So many more are taken, to tell their requests so: who is cut without a word takes it for a fault of the network. */
const MAX_SURPLUS_OF_CLIENT = 500;

/** The connections of a server, and the answers under way on them. */
export type Connections = {
  /** Takes a connection, or cuts it where its client has far too many. */
  add: (socket: Socket) => void;
  /** Whether its client had too many connections when this one came: its requests are to be refused. */
  isSurplus: (socket: Socket) => boolean;
  /** Notes an answer that begins. Cuts the connection, and returns false, where too many are under way on it. */
  begin: (answer: ServerResponse) => boolean;
  /** Calls `then` once the answers to what came whole on a connection are sent. */
  afterAnswers: (socket: Socket, then: () => void) => void;
  /** Cuts connections whose client has taken longer than `ms` to read a complete answer. To be called now and then. */
  cutUnread: (ms: number) => void;
  /** Cuts those that never sent a byte. Node doesn't count them as idle. */
  cutSilent: () => void;
  cutAll: () => void;
  /** How many there were. */
  accepted: () => number;
};

/** `trustedProxies` hold any number of connections. */
export function createConnections({ trustedProxies }: { trustedProxies: string[] }): Connections {
  /**
   * The answers under way, by connection. A client that pipelines has several at once, of which one has the socket.
   * They aren't in one common set, because a set is rebuilt every few dozen requests, and the garbage collector then
   * takes its entries for long-lived: requests for single tokens left twice as much garbage to the collector's slow
   * part.
   */
  const connections = new Map<Socket, ServerResponse[]>();
  const isProxy = createIsProxy({ trustedProxies });
  const take = createHolds(MAX_CONNECTIONS_OF_CLIENT);
  const takeSurplus = createHolds(MAX_SURPLUS_OF_CLIENT);
  const surplus = new WeakSet<Socket>();
  const unreadSince = new WeakMap<ServerResponse, number>();
  let accepted = 0;

  return {
    add(socket) {
      accepted += 1;
      connections.set(socket, []);
      socket.once("close", () => connections.delete(socket));
      const address = socket.remoteAddress ?? "";
      if (isProxy(address)) return;
      const client = clientNetwork(withoutMapping(address));
      if (take(socket, client)) return;
      if (takeSurplus(socket, client)) surplus.add(socket);
      else socket.destroy();
    },
    isSurplus: (socket) => surplus.has(socket),
    begin(answer) {
      const { socket } = answer.req;
      const answers = connections.get(socket);
      // Requests that Node read before the connection was cut still arrive here.
      if (!answers || answers.length >= MAX_PIPELINED || socket.destroyed) {
        socket.destroy();
        return false;
      }
      answers.push(answer);
      answer.once("close", () => void answers.splice(answers.indexOf(answer), 1));
      return true;
    },
    afterAnswers(socket, then) {
      const last = connections.get(socket)?.findLast(({ req }) => req.complete);
      if (last) last.once("close", then);
      else then();
    },
    cutUnread(ms) {
      const now = performance.now();
      for (const answer of [...connections.values()].flat()) {
        if (!answer.socket || !answer.writableEnded || answer.writableFinished) continue;
        const since = unreadSince.get(answer) ?? now;
        unreadSince.set(answer, since);
        if (now - since >= ms) answer.socket.destroy();
      }
    },
    cutSilent() {
      for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
    cutAll() {
      for (const socket of connections.keys()) socket.destroy();
    },
    accepted: () => accepted,
  };
}

/** Counts connections by client. Returns false, and doesn't count, where the client holds `most` already. */
function createHolds(most: number): (socket: Socket, client: string) => boolean {
  const held = createTally();
  return (socket, client) => {
    if (held.of(client) >= most) return false;
    held.change(client, 1);
    socket.once("close", () => held.change(client, -1));
    return true;
  };
}
