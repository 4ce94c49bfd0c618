import type { TokenKey } from "./token-lookup.ts";

/** Returns a token as JSON. Undefined where it is unknown or its contract is hidden. */
type TokenLoader = (wanted: { contractAddress: string; tokenId: string }) => Promise<string | undefined>;

/**
 * Finds tokens. Those that exist are returned as JSON with their index in `tokens`. Some may come later, without
 * holding up the others.
 */
type FindTokens = (
  tokens: readonly TokenKey[],
) => Promise<{ json: string | Promise<string | undefined>; place: number }[]>;

type Waiting = {
  token: TokenKey;
  resolve: (json: string | undefined | Promise<string | undefined>) => void;
  reject: (error: unknown) => void;
};

/** The most tokens in one statement: with more, the first token would wait long for the last. */
const MAX_TOKENS = 50;
/**
 * The most statements at once. Requests that come meanwhile share the next statement, which makes many requests cheap.
 */
const MAX_STATEMENTS = 3;

/**
 * Looks up tokens that are asked for at the same moment with one statement. A statement for each would be more than
 * half of the cost of an answer, here and in Postgres. While nothing runs, a request waits only for others of the same
 * turn of the event loop.
 */
export function createTokenLoader(findTokens: FindTokens): TokenLoader {
  let waiting: Waiting[] = [];
  let running = 0;
  let isScheduled = false;

  const schedule = () => {
    if (isScheduled || running >= MAX_STATEMENTS || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      const items = waiting.slice(0, MAX_TOKENS);
      waiting = waiting.slice(MAX_TOKENS);
      running += 1;
      void load(items).finally(() => {
        running -= 1;
        schedule();
      });
      schedule();
    });
  };

  async function load(items: Waiting[]): Promise<void> {
    try {
      const found = await findTokens(items.map(({ token }) => token));
      for (const { json, place } of found) items[place]?.resolve(json);
      // Has no effect on those that were found: they are settled already.
      for (const { resolve } of items) resolve(undefined);
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
  }

  return ({ contractAddress, tokenId }) =>
    new Promise((resolve, reject) => {
      waiting.push({ token: { contract_address: contractAddress, token_id: tokenId }, resolve, reject });
      schedule();
    });
}
