import {
  type AbiEvent,
  type AbiParameter,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  toEventSelector,
  zeroAddress,
  zeroHash,
} from "viem";
import type { ChainLog } from "../history/chain-log.ts";
import type { Source } from "../sources.ts";
import { type LogToWrite, singleLog, transferLog, words } from "./raw-log.ts";
import { createRandom, randomLogs } from "./random-logs.ts";

/** `worldNumber`: accounts and contracts of their own, other than those of other numbers. */
type Options = {
  sources: readonly Source[];
  logCount: number;
  worldNumber?: number;
  firstBlock?: number;
};

/**
 * A chain of all that is indexed: every event of every source with arguments out of small pools, so that orders, tokens
 * and accounts meet each other, many of them in one transaction, and now and then something that is broken.
 */
export function randomChain(seed: number, { sources, logCount, worldNumber = 0, firstBlock = 1 }: Options): ChainLog[] {
  const random = createRandom(seed);
  const world = createWorld(random, { number: worldNumber });
  const logs: ChainLog[] = [];
  let blockNumber = firstBlock + world.below(5);
  let logIndex = 0;
  let transaction = worldNumber * 1_000_000;
  let left = 0;
  while (logs.length < logCount) {
    if (left-- <= 0) {
      transaction++;
      left = world.below(9);
      if (world.below(3) === 0) {
        blockNumber += 1 + world.below(4);
        logIndex = 0;
      }
    }
    for (const { address, topics, data } of world.write(sources)) {
      logs.push({
        blockNumber,
        timestamp: 1_500_000_000 + blockNumber * 12,
        blockHash: hashOf(blockNumber, 0xb),
        transactionHash: hashOf(transaction, 0x7),
        logIndex,
        address,
        topics,
        data,
        sender: world.accountOf(transaction),
        note: world.accountOf(transaction + 1),
      });
      logIndex += 1 + world.below(2);
    }
  }
  return logs;
}

const hashOf = (number: number, kind: number): Hex =>
  numberToHex((BigInt(kind) << 248n) | BigInt(number), { size: 32 });

type Written = LogToWrite & { address: Hex };

function createWorld(random: () => number, { number: worldNumber }: { number: number }) {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const addresses = (byte: string, count: number) =>
    Array.from(
      { length: count },
      (_, index): Hex => `0x${byte.repeat(15)}${(worldNumber * 256 + index + 16).toString(16).padStart(10, "0")}`,
    );
  const accounts = addresses("aa", 5);
  // Of these two standards now and then, of the others one each; the last ones are any.
  const tokens721 = addresses("71", 3);
  const tokens1155 = addresses("15", 2);
  const mixed = addresses("3d", 2);
  const contracts = [...tokens721, ...tokens1155, ...mixed];
  const party = () => pick([...accounts, ...accounts, zeroAddress]);
  const small = () => BigInt(below(6));
  const number = () => pick([small, small, small, () => 2n ** BigInt(below(256)), () => 2n ** 256n - 1n])();

  /** What the last event speaks of. */
  const mentioned = { contracts: [] as Hex[], accounts: [] as Hex[], ids: [] as bigint[] };

  /** A value of a type. Addresses are those of accounts or contracts by what the name says. */
  const valueOf = (parameter: AbiParameter): unknown => {
    const { type, name = "" } = parameter;
    const array = /^(.*)\[(\d*)\]$/.exec(type);
    if (array) {
      const length = array[2] ? Number(array[2]) : below(3);
      return Array.from({ length }, () => valueOf({ ...parameter, type: array[1]! }));
    }
    if (type === "tuple") {
      const { components } = parameter as { components: readonly AbiParameter[] };
      return Object.fromEntries(components.map((component) => [component.name, valueOf(component)]));
    }
    if (type === "address") {
      const isContract = /collection|contract|^(erc(721|1155))?token(address)?$/i.test(name);
      const address = isContract ? pick(contracts) : party();
      mentioned[isContract ? "contracts" : "accounts"].push(address);
      return address;
    }
    if (type === "bool") return random() < 0.5;
    if (type === "bytes32") return pick([zeroHash, ...[1n, 2n, 3n].map((hash) => numberToHex(hash, { size: 32 }))]);
    if (type === "bytes") return itemData();
    if (type === "string") return "text";
    if (/^u?int/.test(type)) {
      const size = Number(/\d+/.exec(type)?.[0] ?? 256);
      if (size <= 8) return below(6);
      const isId = /id|identifier|index/i.test(name);
      const value = isId ? small() : number();
      if (isId) mentioned.ids.push(value);
      return size <= 48 ? Number(value % 2n ** BigInt(size)) : value % 2n ** BigInt(size);
    }
    throw new Error(`No value of type ${type}.`);
  };

  /** As X2Y2 writes what was sold. */
  const itemData = (): Hex => {
    const pairs = Array.from({ length: below(3) }, () => [pick(contracts), small()] as const);
    if (random() < 0.2) return "0x1234";
    mentioned.contracts.push(...pairs.map(([address]) => address));
    mentioned.ids.push(...pairs.map(([, id]) => id));
    return encodeAbiParameters([{ type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }] }], [pairs]);
  };

  const eventOf = (source: Source): Written => {
    const event = pick(source.abi.filter((item): item is AbiEvent => item.type === "event"));
    const indexed = event.inputs.filter((input) => input.indexed);
    const plain = event.inputs.filter((input) => !input.indexed);
    const topics = indexed.map((input) => encodeAbiParameters([input], [valueOf(input)]));
    const data = encodeAbiParameters(
      plain,
      plain.map((input) => valueOf(input)),
    );
    const address = source.addresses === "*" ? pick(contracts) : pick(source.addresses);
    return { address, topics: [toEventSelector(event), ...topics], data };
  };

  /** Something in the bytes of a word that an address doesn't use. */
  const dirty = (value: string) => (random() < 0.5 ? value : `ff${value.slice(2, 23)}1${value.slice(24)}`);

  /** Cut off, lengthened, with another number of topics, with words out of place, or with dirty ones. */
  const broken = (log: Written): Written =>
    pick<() => Written>([
      () => ({
        ...log,
        topics: log.topics.map((topic, place): Hex => (place === 0 ? topic : `0x${dirty(topic.slice(2))}`)),
      }),
      () => ({ ...log, data: `0x${log.data.slice(2).replace(/.{64}/g, dirty)}` }),
      () => ({ ...log, data: log.data.slice(0, 2 + 2 * below(log.data.length / 2)) as Hex }),
      () => ({ ...log, data: `${log.data}${"00".repeat(below(40))}` }),
      () => ({ ...log, topics: log.topics.slice(0, 1 + below(log.topics.length)) }),
      () => ({ ...log, topics: [...log.topics, zeroHash].slice(0, 4) }),
      () => ({
        ...log,
        data: words(...Array.from({ length: below(8) }, () => pick([0n, 32n, 64n, 96n, 160n, 3n, number()]))),
      }),
    ])();

  const movement = (): Written => {
    const address = pick(contracts);
    const [log] = randomLogs(random, { accounts, count: 1 });
    // Contracts of one standard keep to it.
    const isErc1155 = log!.topics.length === 4 && /^0x(c3d58168|4a39dc06)/.test(log!.topics[0]!);
    if (tokens721.includes(address) && isErc1155) return { ...log!, address: pick(tokens1155) };
    if (tokens1155.includes(address) && !isErc1155) return { ...log!, address: pick(tokens721) };
    return { ...log!, address };
  };

  /** An exchange's log, mostly with transfers of what it speaks of before or after it. */
  const trade = (sources: readonly Source[]): Written[] => {
    for (const list of Object.values(mentioned)) list.length = 0;
    const exchanges = sources.filter(({ addresses }) => addresses !== "*" && addresses.length > 0);
    // So seldom does one of Seaport's orders come to a sale that they have to be many.
    const seaport = exchanges.filter(({ name }) => name === "Seaport");
    const log = eventOf(pick([...exchanges, ...seaport, ...seaport]));
    const { contracts: traded, accounts: parties, ids } = mentioned;
    if (traded.length === 0 || ids.length === 0 || random() < 0.3) return [log];
    const hops = Array.from({ length: 1 + below(3) }, (): Written => {
      // A contract and the id that was named with it.
      const place = below(traded.length);
      const [address, id] = [traded[place]!, ids[place % ids.length]!];
      const [from, to] = [pick([...parties, party()]), pick([...parties, party()])];
      const isErc1155 = tokens1155.includes(address) || (mixed.includes(address) && random() < 0.5);
      return { ...(isErc1155 ? singleLog(from, to, id, small()) : transferLog(from, to, id)), address };
    });
    return random() < 0.5 ? [log, ...hops] : [...hops, log];
  };

  const write = (sources: readonly Source[]): Written[] => {
    const other = () => eventOf(pick(sources.filter(({ name }) => name === "Approval" || name === "Metadata")));
    const any = () => eventOf(pick(sources.filter(({ addresses }) => addresses.length > 0)));
    return pick<() => Written[]>([
      () => [movement()],
      () => [movement()],
      () => [movement()],
      () => trade(sources),
      () => trade(sources),
      () => [other()],
      () => [broken(pick([movement, any])())],
    ])();
  };

  return { below, write, accountOf: (number: number) => accounts[number % accounts.length]! };
}
