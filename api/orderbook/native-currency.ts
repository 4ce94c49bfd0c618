import { zeroAddress } from "viem";
import { CHAIN } from "./trade-order.ts";

/** Chains built on OP, all of which have wrapped ether at the same address. Source: the OP Superchain registry. */
const OP_CHAINS = [10, 130, 360, 480, 1135, 1301, 1868, 8453, 34443, 57073, 84532, 7777777, 11155420];

/**
 * Tokens that are worth as much as a chain's own currency, with the chains for which this holds: on another chain,
 * anybody may have deployed anything at the same address. The demo chain has its wrapped ether at mainnet's address.
 * Source: Uniswap's SDK, OpenSea's SDK, Reservoir's indexer and the chains' own documentation; two of them name each
 * token.
 */
const WRAPPED: { chains: readonly number[]; currencies: readonly string[] }[] = [
  {
    chains: [1, 31337],
    currencies: ["0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "0x0000000000a39bb272e79075ade125fd351887ac"],
  },
  { chains: OP_CHAINS, currencies: ["0x4200000000000000000000000000000000000006"] },
  { chains: [137], currencies: ["0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270"] },
  { chains: [42161], currencies: ["0x82af49447d8a07e3bd95bd0d56f35241523fbab1"] },
  { chains: [56], currencies: ["0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"] },
  {
    chains: [11155111],
    currencies: ["0xfff9976782d46cc05630d1f6ebab18b2324d6b14", "0x7b79995e5f793a07bc00c21412e50ecae098e7f9"],
  },
  { chains: [43114], currencies: ["0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7"] },
  { chains: [100], currencies: ["0xe91d153e0b41518a2ce8dd3d7944fa863463a97d"] },
  { chains: [59144], currencies: ["0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f"] },
  { chains: [534352, 534351], currencies: ["0x5300000000000000000000000000000000000004"] },
  { chains: [81457], currencies: ["0x4300000000000000000000000000000000000004"] },
  { chains: [324], currencies: ["0x5aea5775959fbc2557cc8789bc1bf90a239d9a91"] },
  { chains: [2741], currencies: ["0x3439153eb7af838ad19d56e1571fbd09333c2809"] },
  { chains: [33139], currencies: ["0x48b62137edfa95a428d35c09e44256a739f6b557"] },
  { chains: [2020], currencies: ["0xe514d9deb7966c8be0ca922de8a064264ea6bcd4"] },
  { chains: [80094], currencies: ["0x6969696969696969696969696969696969696969"] },
  { chains: [143], currencies: ["0x3bd359c1119da7da1d913d1c4d2b7c461115433a"] },
  { chains: [1329], currencies: ["0xe30fedd158a2e3b13e9badaeabafc5516e95e8c7"] },
  { chains: [999], currencies: ["0x5555555555555555555555555555555555555555"] },
  { chains: [42170], currencies: ["0x722e8bdd2ce80a4422e880164f2079488e115365"] },
  { chains: [421614], currencies: ["0x980b62da83eff3d4576c647993b0c1d7faf17c73"] },
  { chains: [43113], currencies: ["0xd00ae08403b9bbb9124bb305c09058e32c39a48c"] },
  { chains: [97], currencies: ["0xae13d989dac2f0debff460ac112a837c89baa7cd"] },
];

/** Whether a token is a wrapped form of the chain's own currency, and so has as many decimals. */
export const isWrapped = (chainId: number, address: string): boolean =>
  WRAPPED.some(({ chains, currencies }) => chains.includes(chainId) && currencies.includes(address));

const literals = (currencies: readonly string[]) =>
  `array[${[zeroAddress, ...currencies].map((address) => `'\\x${address.slice(2)}'::bytea`).join(", ")}]`;

/** The currencies of the statement's chain. For a million mainnet orders this is as fast as one list for all chains. */
export const NATIVE_CURRENCIES = `
  (case
    ${WRAPPED.map(({ chains, currencies }) => `when ${CHAIN} in (${chains.join(", ")}) then ${literals(currencies)}`).join("\n")}
    else ${literals([])}
  end)
`;

/** SQL of whether an order or a sale is paid in the chain's own currency or its wrapped form. */
export const isNative = (table: string) => `(${table}.currency_address = any(${NATIVE_CURRENCIES}))`;

/** Decimals of the chain's currency. */
const NATIVE_DECIMALS = 18;

/**
 * SQL of an amount in whole units of the chain's currency. Rounded to a float8, which holds fewer digits than amounts.
 */
export const wholeOf = (amount: string) => `((${amount})::text || 'e-${NATIVE_DECIMALS}')::float8`;
