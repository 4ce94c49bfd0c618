import type { KeyObject } from "node:crypto";
import type { Context } from "hono";
import type { Sql } from "postgres";
import { NETWORKS, type Network } from "../config.ts";
import { notFound, quote } from "../api/http/errors.ts";
import type { Env } from "../api/http/request-state.ts";
import { parse } from "../api/http/route.ts";
import { Address, TokenId } from "../api/http/parameter.ts";
import type { PageSources } from "../api/server.ts";
import type { Moment } from "../api/orderbook/trade-order.ts";
import type { Samples } from "./samples.ts";
import type { SlowValues } from "./slow-value.ts";

/** A collection by its address without 0x, and how many tokens it has. */
export type LargeCollection = { address: string; count: number };

/** What all pages are rendered from. */
export type Explorer = PageSources & {
  largest: SlowValues<LargeCollection[]>;
  holders: SlowValues<{ tokens: number; owners: number }>;
  samples: Samples;
};

/** What a page about one network reads from. */
export type Reader = { network: Network; chainId: number; moment: Moment; sql: Sql; secret: KeyObject };

/** The reader of the network that the path of a page names. @throws HttpError as `openReader` does */
export const readerOf = (sources: PageSources, c: Context<Env>): Reader => openReader(sources, paramOf(c, "network"));

/** @throws HttpError 404 for a network that isn't served, 503 where it can't be read now */
function openReader({ databases, monitor }: PageSources, name: string): Reader {
  const network = NETWORKS.find((one) => one === name);
  if (!network) throw notFound(`There is no network ${quote(name)}. Expected mainnet or testnet.`);
  const { chainId, now, secret } = monitor.require(network);
  return { network, chainId, moment: { chainId, now }, sql: databases.read[network], secret };
}

/** Networks whose tables can be read. */
export function listReaders(sources: PageSources): Reader[] {
  return sources.monitor
    .networks()
    .filter(({ has_tables }) => has_tables)
    .map(({ name }) => openReader(sources, name));
}

/** A parameter of the path of a page. */
export const paramOf = (c: Context<Env>, name: string): string => c.req.param(name) ?? "";

/** @throws HttpError 400 where it is none */
export const readAddress = (text: string): string => parse(Address, text);

/** The token that the path of a page names. @throws HttpError 400 */
export const tokenOf = (c: Context<Env>): { contractAddress: string; tokenId: string } => ({
  contractAddress: readAddress(paramOf(c, "contract")),
  tokenId: parse(TokenId, paramOf(c, "token")),
});
