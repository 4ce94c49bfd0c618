import { getAbiItem, toEventSelector } from "viem";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { listSources } from "./sources.ts";
import { definitions } from "./src/definitions.ts";

const PUNKS = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";
const KITTIES = "0x06012c8cf97bead5deae237070f9587f8e7a266d";

const sourcesOf = (env: Record<string, string>, chainId = 1) =>
  listSources(readConfig({ MAINNET_RPC_URL: "http://localhost:1", ...env }), { network: "mainnet", chainId });
const addressesOf = (name: string, ...options: Parameters<typeof sourcesOf>) =>
  sourcesOf(...options).find((source) => source.name === name)!.addresses;

test("what is asked for is what is defined, event by event", () => {
  const sources = sourcesOf({});
  expect(sources.map(({ name }) => name)).toEqual(Object.keys(definitions));
  for (const { name, abi } of sources) {
    const definition = definitions[name]!;
    expect(abi).toBe(definition.abi);
    const events = abi.filter((item) => item.type === "event").map((event) => event.name);
    expect(Object.keys(definition.handlers).toSorted()).toEqual(events.toSorted());
  }
});

test("on Ethereum only known contracts' Transfers with nothing indexed are asked for", () => {
  expect(addressesOf("Erc721FirstGeneration", {})).toEqual([KITTIES]);
  expect(addressesOf("Erc721FirstGeneration", {}, 137)).toBe("*");
  expect(addressesOf("Erc721FirstGeneration", { MAINNET_FIRST_GENERATION_CONTRACTS: "*" })).toBe("*");
  expect(addressesOf("Erc721FirstGeneration", { MAINNET_FIRST_GENERATION_CONTRACTS: "none" })).toEqual([]);
});

test("Transfers with all but the token id indexed are asked of those contracts that are named", () => {
  const named = { MAINNET_FIRST_GENERATION_CONTRACTS: PUNKS };
  expect(addressesOf("Erc721Draft", {})).toEqual([KITTIES]);
  expect(addressesOf("Erc721Draft", {}, 137)).toEqual([]);
  expect(addressesOf("Erc721Draft", named, 137)).toEqual([PUNKS]);
  expect(addressesOf("Erc721Draft", { MAINNET_CONTRACTS: PUNKS }, 137)).toEqual([]);
  expect(addressesOf("Erc721Draft", { ...named, MAINNET_CONTRACTS: `${PUNKS},${KITTIES}` })).toEqual([PUNKS]);
  expect(addressesOf("Erc721Draft", { ...named, MAINNET_CONTRACTS: KITTIES })).toEqual([]);
});

test("an exchange that is elsewhere on another chain is asked for where it is", () => {
  expect(addressesOf("Element", {})).toEqual(["0x20f780a973856b93f63670377900c1d2a50a77c4"]);
  expect(addressesOf("Element", {}, 137)).toEqual(["0xeaf5453b329eb38be159a872a6ce91c9a8fb0260"]);
  expect(addressesOf("Element", {}, 31337)).toEqual([]);
  for (const name of ["SuperRare", "SuperRareBazaar", "ZoraReserveAuction"]) {
    expect(addressesOf(name, {}).length).toBeGreaterThan(0);
    expect(addressesOf(name, {}, 137)).toEqual([]);
  }
  expect(addressesOf("PaymentProcessorV2", {}, 31337)).toEqual(addressesOf("PaymentProcessorV2", {}));
});

test("every address is in lower case", () => {
  for (const chainId of [1, 10, 56, 137, 204, 324, 8453, 42161, 43114, 59144, 81457, 534352, 11155111]) {
    const addresses = sourcesOf({}, chainId).flatMap((source) => source.addresses);
    for (const address of addresses) expect(address).toMatch(/^(\*|0x[0-9a-f]{40})$/);
  }
});

test("listed contracts are asked for all that they may write", () => {
  const env = { MAINNET_CONTRACTS: PUNKS, MAINNET_FIRST_GENERATION_CONTRACTS: KITTIES };
  for (const name of ["Erc721", "Erc721FirstGeneration", "Erc1155", "Approval", "CryptoPunks"])
    expect(addressesOf(name, env)).toEqual([PUNKS]);
  expect(addressesOf("CryptoPunks", { MAINNET_CONTRACTS: KITTIES })).toEqual([]);
});

test("an event has one meaning within a source", () => {
  for (const { abi } of sourcesOf({})) {
    const events = abi.filter((item) => item.type === "event");
    expect(new Set(events.map(toEventSelector)).size).toBe(events.length);
    for (const event of events) expect(getAbiItem({ abi, name: event.name })).toBe(event);
  }
});
