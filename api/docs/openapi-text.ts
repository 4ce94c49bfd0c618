/** What each status means, where an endpoint says nothing else. */
export const ERRORS: Record<number, string> = {
  400: "A parameter, the body or the cursor is malformed.",
  401: "The key is missing, unknown or revoked.",
  403: "Registration of keys is closed.",
  404: "The contract, token, network or path is unknown.",
  405: "The method is not allowed here; `Allow` names those that are.",
  413: "The body is larger than 1,048,576 bytes.",
  414: "The URL is longer than 32,768 characters.",
  415: "The body is not JSON.",
  416: "The range is not within the content; `Content-Range` says how long that is.",
  429: "The rate limit is reached, or a token's metadata was asked for a short while ago; `Retry-After` says when to come again.",
  500: "A fault of ours; `x-request-id` helps to find it.",
  503: "The database is unreachable, or nothing is indexed yet; `Retry-After` says when to come again.",
};

/** What holds for all endpoints. */
export const DESCRIPTION = `
NFT contracts, tokens with normalized metadata, token events and owners of two EVM networks.

**Networks.** The main network is at the root, the test network's Indexer API behind \`/testnet\`, with the
same paths. Where the operator has given them host names, both are at the root of theirs.

**Keys.** Each request of the Indexer API carries a key in the header \`x-api-key\`. \`POST /keys\` registers one. Pages of
other sites may read everything (CORS) but not register keys: \`/keys\` has no CORS headers.

**Lists** have \`cursor\` and \`result\`. Ask again with \`?cursor=\` until \`cursor\` is null. A cursor is opaque, holds for
ever and only for the list, path and filters that it came from; \`limit\` may change on the way. A page ends early before
its body exceeds 1,048,576 bytes, but has at least one item. While rows are added, no row is shown twice and none that
was there at the start is left out.

**Values.** Addresses are taken in any case and given in lower case. Token ids are taken in decimal or hex, padded or
not, up to 2^256-1. Timestamps are Unix seconds. Unknown query parameters and fields of a body are ignored. A parameter
that is there but empty (\`?cursor=\`, \`?limit=\`) is malformed. \`image\` and \`contract_image\` are null where no image of
the contract is known; other texts are empty then.

**Rate limits.** Every answer carries \`RateLimit\` and \`RateLimit-Policy\` (IETF draft), and \`RateLimit-Limit\`,
\`-Remaining\` and \`-Reset\` of its earlier version. By default a key, or without one a client address, has 50 requests a
second and up to 100 at once; what was used beyond the 50 comes back after ten seconds. A burst that is configured below
the rate counts as the rate. An IPv6 address counts as its network of 64 bits. Behind proxies that the operator trusts the
client is who \`X-Forwarded-For\` says, and no other header is looked at. \`/health\`, \`/ready\`, \`/status\` and \`/metrics\`
are not limited, nor is \`OPTIONS\`. A key that this process doesn't know yet is looked up at the cost of the client address.

**Errors** are JSON with \`type\` and \`message\`. What is checked first is told first: the length of the URL (414), the rate
limit (429), the network (404), the key (401), the parameters (400), the body (413, 415, 400), whether the database
answers (503), the cursor (400), and then whether there is what was asked for (404). A method that a path doesn't have is
405 before the key is looked at; so is \`GET\` on \`/v1/tokens/batch\`. What is no HTTP at all is answered without rate-limit
headers and the connection is closed: 400 where it can't be read, 408 where it takes longer than 20 seconds to arrive (the
headers 10), 431 where its headers take more than 49,152 bytes.

**Caching.** Lists and single objects of the Indexer API carry a weak \`ETag\`, the same for every compression;
\`If-None-Match\` answers 304, also to the same tag without \`W/\`. Those of the Orderbook and the Marketplace are true at
this second: they have no \`ETag\` and are not to be kept (\`Cache-Control: no-store\`). Bodies from 1400 bytes on are
compressed with br or gzip where the client accepts that.

**Extensions** beyond the specification are marked as such.
`.trim();
