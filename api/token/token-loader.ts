import type { TokenKey } from "./token-lookup.ts";

/** JSON of one token; undefined where it is unknown or its contract hidden. */
type TokenLoader = (wanted: { contractAddress: string; tokenId: string }) => Promise<string | undefined>;

/** JSON of those of `tokens` that exist, each with its place in `tokens` from 0. What comes later keeps no other waiting. */
type FindTokens = (
  tokens: readonly TokenKey[],
) => Promise<{ json: string | Promise<string | undefined>; place: number }[]>;

type Waiting = {
  token: TokenKey;
  resolve: (json: string | undefined | Promise<string | undefined>) => void;
  reject: (error: unknown) => void;
};

/** Tokens of one statement: more would make the first wait for the last. */
const MAX_TOKENS = 50;
/** Statements at once. What comes meanwhile goes together with the next, which is what makes many requests cheap. */
const MAX_STATEMENTS = 3;

/**
 * Looks up the tokens that are asked for at the same moment by one statement. A statement for each would cost more than
 * half of such an answer, here and in Postgres. An idle loader waits for nobody: what arrived in this turn of the event
 * loop is what goes.
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
      // Those that were found are settled already.
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
