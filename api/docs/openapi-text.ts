import { MAX_CONNECTIONS_OF_CLIENT } from "../connections.ts";
import { DEFAULTS } from "../defaults.ts";
import { MAX_REQUEST_BYTES, MAX_REQUEST_CHUNKS } from "../http/body.ts";
import { grouped } from "../http/field.ts";
import { MAX_BODY_BYTES } from "../http/page.ts";
import { COMPRESS_FROM_BYTES } from "../http/send.ts";
import { MAX_URL_LENGTH } from "../key/admission.ts";
import { BURST_SECONDS } from "../key/rate-limit.ts";
import { HEADERS_TIMEOUT_MS, MAX_HEADER_BYTES, REQUEST_TIMEOUT_MS } from "../listen.ts";

const { rateLimit, rateBurst } = DEFAULTS;

/** What each status means, where an endpoint says nothing else. What is malformed (400) depends on what it takes. */
export const ERRORS: Record<number, string> = {
  401: "The key is missing, unknown or revoked.",
  403: "Registration of keys is closed.",
  413: `The body is larger than ${grouped(MAX_REQUEST_BYTES)} bytes, or comes in more than ${grouped(MAX_REQUEST_CHUNKS)} chunks.`,
  414: `The URL is longer than ${grouped(MAX_URL_LENGTH)} characters.`,
  415: "The body is not JSON by its `Content-Type`, or is compressed.",
  416: "The range is not within the content; `Content-Range` says how long that is.",
  429: "The rate limit is reached.",
  500: "A fault of ours; `x-request-id` helps to find it.",
  503: "The database is unreachable or too slow, or nothing is indexed yet.",
};

const text = (description: string) => ({ description, schema: { type: "string" } }) as const;
const seconds = (description: string) => ({ description, schema: { type: "integer", minimum: 0 } }) as const;

/** Headers of answers. */
export const HEADERS = {
  RateLimit: text('Requests left (`r`) and seconds until there are more (`t`), as `"default";r=99;t=1`.'),
  "RateLimit-Policy": text(
    'Requests (`q`) in a window of seconds (`w`), and how many at once (`burst`), as `"default";q=50;w=1;burst=100`.',
  ),
  "RateLimit-Limit": seconds("Requests at once, at most: the earlier form of `burst`."),
  "RateLimit-Remaining": seconds("Requests left: the earlier form of `r`."),
  "RateLimit-Reset": seconds("Seconds until there are more: the earlier form of `t`."),
  "X-Request-Id": text("Names this request in our log."),
  "Retry-After": seconds("Seconds after which to come again."),
  ETag: text("Names this state of the answer, for `If-None-Match`."),
  "Content-Range": text(
    "The bytes that these are, and how many there are: `bytes 0-1023/4096`; of a 416 `bytes */4096`.",
  ),
  "Accept-Ranges": text("Always `bytes`."),
} as const;

/** What holds for all endpoints. */
export const DESCRIPTION = `
NFT contracts, tokens with normalized metadata, token events and owners of one EVM network or two; what is listed and
offered, and for how much; and collections and portfolios as a marketplace shows them.

**Networks.** The main network is at the root, the test network's Indexer API behind \`/testnet\`, with the
same paths. Where the operator has given them host names, both are at the root of theirs.

**Keys.** Each request of the Indexer API carries a key in the header \`x-api-key\`, the same on both networks.
\`POST /keys\` registers one. Pages of other sites may read everything (CORS) but not register keys: \`/keys\` has no CORS
headers.

**Requests.** A body is JSON of at most ${grouped(MAX_REQUEST_BYTES)} bytes, with \`Content-Type: application/json\` and not compressed.
\`HEAD\` answers as \`GET\` does, without the body.

**Lists** have \`cursor\` and \`result\`. Ask again with \`?cursor=\` until \`cursor\` is null. A cursor is opaque, holds for
ever and only for the list, path and filters that it came from; \`limit\` may change on the way. A page ends early before
its body exceeds ${grouped(MAX_BODY_BYTES)} bytes, but has at least one item. While rows are added, no row is shown twice and none that
was there at the start is left out.

**Values.** Addresses are 0x and 40 hex digits, taken in any case and given in lower case. Hashes are 0x and 64 hex
digits in lower case. Token ids are taken in decimal or hex, padded or not, up to 2^256-1. Whatever may be larger than
2^53, as ids, units and amounts, is a text of decimal digits; amounts are in the smallest unit of their currency (wei)
unless whole units are said. The zero address (0x and 40 zeros) stands for the chain's own currency, for nobody as a
sender, which is a mint, and for nobody as a receiver, which is a burn. Timestamps are Unix seconds. Unknown query
parameters and fields of a body are ignored. \`name[]\` and \`name[0]\` are \`name\`. A parameter that is there but empty (\`?cursor=\`, \`?limit=\`) is
malformed. \`image\` and \`contract_image\` are null where no image of the contract is known; other texts are empty
then.

**Rate limits.** Every answer carries \`RateLimit\` and \`RateLimit-Policy\` (IETF draft), and \`RateLimit-Limit\`,
\`-Remaining\` and \`-Reset\` of its earlier version. By default a key, or without one a client address, has ${rateLimit} requests a
second and up to ${rateBurst} at once; what was used beyond the ${rateLimit} comes back after ${BURST_SECONDS} seconds. A burst that is configured below
the rate counts as the rate. An IPv6 address counts as its network of 64 bits. Behind proxies that the operator trusts the
client is who \`X-Forwarded-For\` says, and no other header is looked at. \`/health\`, \`/ready\`, \`/status\` and \`/metrics\`
are not limited, nor is \`OPTIONS\`. Looking up keys that this process doesn't know yet has the same limits for each client
address, beside those of its requests.

**Errors** are JSON with \`type\` and \`message\`; 429 and 503 say in \`Retry-After\` in how many seconds to come again.
What is checked first is told first: the length of the URL (414), the rate limit (429), the network (404), the key
(401), the parameters (400), the body (413, 415, 400), whether the database answers (503), the cursor (400), and then
whether there is what was asked for (404). A method that a path doesn't have is 405 before the key is looked at, with
those that it has in \`Allow\`; so is \`GET\` on \`/v1/tokens/batch\`. What is no HTTP at all is answered without
rate-limit headers and the connection is closed: 400 where it can't be read, 408 where it takes longer than ${REQUEST_TIMEOUT_MS / 1000} seconds
to arrive (the headers ${HEADERS_TIMEOUT_MS / 1000}), 431 where its headers take more than ${grouped(MAX_HEADER_BYTES)} bytes. So are requests on more than ${MAX_CONNECTIONS_OF_CLIENT}
connections of one client address, with 429.

**Caching.** Lists and single objects of the Indexer API carry a weak \`ETag\`, the same for every compression;
\`If-None-Match\` answers 304, also to the same tag without \`W/\`. Those of the Orderbook and the Marketplace are true at
this second: they have no \`ETag\` and are not to be kept (\`Cache-Control: no-store\`). Bodies from ${COMPRESS_FROM_BYTES} bytes on are
compressed with br or gzip where the client accepts that.

**Extensions** beyond the specification of these APIs are marked as such.
`.trim();
