import { html } from "hono/html";
import { formatUnits } from "viem";
import { isWrapped } from "../api/orderbook/native-currency.ts";
import { nativeSymbol } from "./chain.ts";
import type { Html } from "./html.ts";
import { isZero, shorten, shortenCount } from "./text.ts";

/**
 * Currencies in which people pay for tokens, by chain and address, besides a chain's own currency and its wrapped form
 * (a W before the symbol). Amounts in other currencies are shown in their smallest unit.
 */
const KNOWN: Record<string, { symbol: string; decimals: number }> = {
  "1:0x0000000000a39bb272e79075ade125fd351887ac": { symbol: "Blur ETH", decimals: 18 },
  "1:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48": { symbol: "USDC", decimals: 6 },
  "1:0xdac17f958d2ee523a2206206994597c13d831ec7": { symbol: "USDT", decimals: 6 },
  "1:0x6b175474e89094c44da98b954eedeac495271d0f": { symbol: "DAI", decimals: 18 },
};

/** Decimals that are shown. The title has all of them. */
const SHOWN_DECIMALS = 5;

/** An amount in the smallest unit of a currency. */
export function renderAmount(
  amount: string,
  { chainId, currencyAddress }: { chainId: number; currencyAddress: string },
): Html {
  const currency = findCurrency(chainId, currencyAddress);
  if (!currency)
    return html`<span title="${amount} of ${currencyAddress}"
      >${shortenCount(BigInt(amount))} of ${shorten(currencyAddress)}</span
    >`;
  const exact = formatUnits(BigInt(amount), currency.decimals);
  return html`<span class="amount" title="${exact} ${currency.symbol}"
    >${shortenDecimal(exact)} ${currency.symbol}</span
  >`;
}

function findCurrency(chainId: number, address: string): { symbol: string; decimals: number } | undefined {
  const native = nativeSymbol(chainId);
  if (isZero(address)) return { symbol: native, decimals: 18 };
  const wrapped = isWrapped(chainId, address) ? { symbol: `W${native.toUpperCase()}`, decimals: 18 } : undefined;
  return KNOWN[`${chainId}:${address}`] ?? wrapped;
}

/** 1234.567890123 → 1,234.56789. An amount that would be shown as 0 becomes <0.00001. */
function shortenDecimal(exact: string): string {
  const [whole = "0", fraction = ""] = exact.split(".");
  const shown = fraction.slice(0, SHOWN_DECIMALS).replace(/0+$/, "");
  if (whole === "0" && shown === "" && /[1-9]/.test(fraction)) return `<0.${"0".repeat(SHOWN_DECIMALS - 1)}1`;
  const start = shortenCount(BigInt(whole));
  return start.includes("e") ? start : `${start}${shown && `.${shown}`}`;
}
