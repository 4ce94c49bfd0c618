import { ZERO_ADDRESS } from "../token/holding.ts";
import { CHAIN } from "./trade-order.ts";

/** Chains built on OP, where wrapped ether is at one address. Source: the OP Superchain registry. */
export const OP_CHAINS = [10, 130, 480, 1135, 1868, 8453, 34443, 57073, 84532, 7777777, 11155420];
export const OP_WRAPPED_ETHER = "0x4200000000000000000000000000000000000006";

/**
 * Tokens that are worth as much as a chain's own currency, by the chains on which they are that: elsewhere anybody may
 * have put anything at their addresses. The demo chain has its wrapped ether where mainnet has it.
 */
const WRAPPED: { chains: readonly number[]; currencies: readonly string[] }[] = [
  {
    chains: [1, 31337],
    currencies: ["0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "0x0000000000a39bb272e79075ade125fd351887ac"],
  },
  { chains: OP_CHAINS, currencies: [OP_WRAPPED_ETHER] },
  { chains: [137], currencies: ["0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270"] },
  { chains: [42161], currencies: ["0x82af49447d8a07e3bd95bd0d56f35241523fbab1"] },
  { chains: [56], currencies: ["0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c"] },
];

const literals = (currencies: readonly string[]) =>
  `array[${[ZERO_ADDRESS, ...currencies].map((address) => `'\\x${address.slice(2)}'::bytea`).join(", ")}]`;

/** Those of the statement's chain. A million orders of mainnet are looked at as quickly as with one list for all. */
const NATIVE_CURRENCIES = `
  (case
    ${WRAPPED.map(({ chains, currencies }) => `when ${CHAIN} in (${chains.join(", ")}) then ${literals(currencies)}`).join("\n")}
    else ${literals([])}
  end)
`;

/** SQL of whether an order or a sale is paid in the chain's own currency, as itself or wrapped. */
export const isNative = (table: string) => `(${table}.currency_address = any(${NATIVE_CURRENCIES}))`;
