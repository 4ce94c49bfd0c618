import { isIP } from "node:net";
import { z } from "zod";

/** What variables may be: each schema reads the text of one. */

/** A whole number in decimal. */
export const integer = ({ from, to }: { from: number; to: number }) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((value) => value >= from && value <= to);

/** Whether a port stands behind the last colon. */
const hasPort = (text: string) => {
  const port = Number(text.slice(text.lastIndexOf(":") + 1));
  return port >= 1 && port <= 65_535;
};

/** Parts between commas. Empty ones, as behind a last comma, count for nothing. */
export const list = (item: z.ZodType<string, string>) =>
  z
    .string()
    .transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .pipe(z.array(item));

const isFilled = (parts: string[]) => parts.length > 0;

/** A list with at least one part. */
export const filledList = (item: z.ZodType<string, string>) => list(item).refine(isFilled);

/** A URL of one of these protocols, which end in a colon. */
export const url = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol));

const urlWithPassword = (...protocols: string[]) =>
  url(...protocols)
    // An @ behind the host: the password has a /, ? or # that is not percent-encoded.
    .refine((text) => {
      const { pathname = "", search = "", hash = "" } = URL.parse(text) ?? {};
      return !`${pathname}${search}${hash}`.includes("@");
    })
    // Drivers decode each part of it: user, password, host and name.
    .refine((text) => {
      try {
        return decodeURIComponent(text) !== "";
      } catch {
        return false;
      }
    });

/**
 * A gateway. The path of a content is put behind it: behind a query, as a gateway's key, no content would be asked for.
 */
export const baseUrl = url("http:", "https:").refine((text) => !/[?#]/.test(text));

/** What the drivers of all parts take to mean the same, Ponder's too. */
const SSL_MODES = new Set(["disable", "require", "verify-full"]);
/**
 * Of other parameters our driver makes settings of its sessions, over those that we rely on, and Postgres refuses what it
 * doesn't know. `uselibpqcompat` is ours, for Ponder.
 */
const DATABASE_PARAMETERS = new Set([
  "sslmode",
  "options",
  "connect_timeout",
  "target_session_attrs",
  "uselibpqcompat",
]);

/** A Postgres, with parameters that mean the same to all who connect to it. */
export const databaseUrl = urlWithPassword("postgres:", "postgresql:").refine((text) => {
  const { searchParams } = URL.parse(text) ?? {};
  const isKnown = searchParams?.keys().every((name) => DATABASE_PARAMETERS.has(name));
  return isKnown && searchParams?.getAll("sslmode").every((mode) => SSL_MODES.has(mode));
});

/** A Redis. Behind the host stands the number of a database, or nothing. */
export const redisUrl = urlWithPassword("redis:", "rediss:").refine((text) =>
  /^\/?\d*$/.test(URL.parse(text)?.pathname ?? ""),
);

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase());

/**
 * Addresses in lower case, each once, and sorted: in another order they would make another deployment, beside that of the
 * same tables.
 */
export const addresses = list(address).transform((parts) => [...new Set(parts)].toSorted());

/** At least one address. */
export const filledAddresses = addresses.refine(isFilled);

/** A key. Of other characters clients send different bytes, and Node reads each byte as a character. */
export const apiKey = z.string().regex(/^[ -~]{1,200}$/);

/** An IP address, or a range of them in CIDR. */
export const ipRange = z.string().refine((text) => {
  const [ip = "", prefix, ...rest] = text.split("/");
  if (rest.length > 0 || isIP(ip) === 0) return false;
  return prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= (isIP(ip) === 4 ? 32 : 128));
});

/**
 * A host and its port, as the URL of a request names it: an address in its shortest form, other scripts than Latin as
 * ASCII.
 */
export const hostAndPort = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[^:/\s@?#*\\]+):\d{1,5}$/i)
  .refine((text) => hasPort(text) && URL.canParse(`http://${text}`))
  .transform((text) => {
    const { hostname, port } = new URL(`http://${text}`);
    return `${hostname}:${port || 80}`;
  });

/**
 * A host name as it is compared: in lower case, without the dot of the DNS root, and without the ports of http and https,
 * which clients leave out.
 */
export const toComparedHost = (text: string) =>
  text
    .toLowerCase()
    .replace(/\.(?=:|$)/, "")
    .replace(/:(80|443)$/, "");

/** A host name, with or without a port, as it is compared. */
export const hostName = z
  .string()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*\.?(:\d{1,5})?$/i)
  .refine((text) => !text.includes(":") || hasPort(text))
  .transform(toComparedHost);
