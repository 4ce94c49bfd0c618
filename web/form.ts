import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { csrf } from "hono/csrf";
import { HttpError } from "../api/http/errors.ts";
import type { Env } from "../api/http/request-state.ts";
import { findKey, hashKey } from "../api/key/key.ts";
import { KeyBody } from "../api/key/key-body.ts";
import { requestRefresh } from "../api/token/refresh.ts";
import { parse } from "../api/http/route.ts";
import { toComparedHost } from "../config-value.ts";
import type { Page } from "./html.ts";
import { type KeyUse, renderKeys } from "./keys-page.ts";
import { KEY_USE_PATH, KEYS_PATH, PARAMETERS, tokenPath } from "./path.ts";
import { type Explorer, readerOf, tokenOf } from "./reader.ts";

/** Longer than any form of ours. */
const MAX_BODY_BYTES = 8192;
const FORM_TYPE = "application/x-www-form-urlencoded";
const FORM_HEADER = new RegExp(`^${FORM_TYPE}[ \\t]*(;|$)`, "i");

type Form = {
  path: string;
  handle: (explorer: Explorer, c: Context<Env>) => Promise<Page | { redirect: string }>;
};

/** @throws HttpError 415 for a body that isn't a form */
const requireForm: MiddlewareHandler<Env> = async (c, next) => {
  if (!FORM_HEADER.test(c.req.header("content-type") ?? ""))
    throw new HttpError(415, `The body is not a form. Expected ${FORM_TYPE}.`);
  await next();
};

/**
 * Accepts only forms sent from our own pages, by the Origin that the browser sends. Only the host is compared, not the
 * whole origin, because a proxy in front may speak TLS for us. Bodies of other types are refused first, because csrf()
 * lets them pass.
 */
export const FORM_GUARDS = [
  requireForm,
  csrf({
    origin: (origin, c) =>
      URL.canParse(origin) && toComparedHost(new URL(origin).host) === toComparedHost(c.req.header("host") ?? ""),
  }),
  bodyLimit({ maxSize: MAX_BODY_BYTES }),
] as const;

/** Why a guard refused a form. */
export const guardMessage = (status: number): string =>
  status === 413
    ? `The form is too long. Expected at most ${MAX_BODY_BYTES} bytes.`
    : "The form was not sent by a page of this service. A proxy in front of it must pass on the Host header.";

/** The forms of all pages. Each works without a script. */
export const FORMS: readonly Form[] = [
  {
    path: KEYS_PATH,
    handle: async (explorer, c) => {
      const { name } = parse(KeyBody, await readForm(c));
      const { clientAddress } = c.get("state");
      const created = await explorer.registration.register({ name, clientAddress });
      return renderKeys(explorer, { origin: originOf(c), created });
    },
  },
  {
    path: KEY_USE_PATH,
    handle: async (explorer, c) => {
      const { key = "" } = await readForm(c);
      const use = await findUse(explorer, { keyHash: hashKey(key.trim()) });
      return renderKeys(explorer, { origin: originOf(c), use });
    },
  },
  {
    path: tokenPath(PARAMETERS, "refresh"),
    handle: async (explorer, c) => {
      const { network, chainId } = readerOf(explorer, c);
      const token = tokenOf(c);
      const { refreshCooldownSeconds: cooldownSeconds } = explorer.config;
      await requestRefresh(explorer.databases.write[network], { chainId, ...token, cooldownSeconds });
      return { redirect: tokenPath({ network, contract_address: token.contractAddress, token_id: token.tokenId }) };
    },
  },
];

/** How much a key was used. The operator's keys are looked up before registered ones, as for API requests. */
async function findUse({ config, databases }: Explorer, { keyHash }: { keyHash: string }): Promise<KeyUse> {
  if (config.apiKeys.some((key) => hashKey(key) === keyHash)) return "operator";
  return (await findKey(databases.write.mainnet, { keyHash })) ?? "unknown";
}

async function readForm(c: Context<Env>): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await c.req.text()));
}

/** The origin of this service as the reader's browser sent it: only the browser knows a proxy's name and TLS. */
function originOf(c: Context<Env>): string {
  const origin = c.req.header("origin") ?? "";
  return /^https?:\/\//.test(origin) && URL.canParse(origin) ? new URL(origin).origin : new URL(c.req.url).origin;
}
