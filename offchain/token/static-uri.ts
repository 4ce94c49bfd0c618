import type { Hex } from "viem";

/** A URI with {id} in decimal, or a document, for contracts whose tokens have no URI on chain. */
type StaticUri = { uri: string } | { document: Record<string, string> };

const CRYPTOPUNKS: StaticUri = {
  document: {
    name: "CryptoPunk #{id}",
    description: "One of 10,000 characters that the CryptoPunks contract of 2017 keeps the owners of.",
    image: "https://cryptopunks.app/cryptopunks/cryptopunk{id}.png",
    external_url: "https://cryptopunks.app/cryptopunks/details/{id}",
  },
};

/** By chain id and address. It is data and not code: a contract that needs more is not supported. */
const STATIC_URIS: Record<string, StaticUri> = {
  // The first CryptoPunks contract, whose market had a bug. Its punks are traded in a wrapper.
  "1:0x6ba6f2207e343923ba692e5cae646fb0f566db8d": CRYPTOPUNKS,
  // CryptoKitties is older than tokenURI.
  "1:0x06012c8cf97bead5deae237070f9587f8e7a266d": { uri: "https://api.cryptokitties.co/kitties/{id}" },
};

/** Any contract of the CryptoPunks kind, on any chain. */
const STANDARDS: Record<string, StaticUri> = { CRYPTOPUNKS };

/** The static URI of a token. Undefined where its contract isn't listed. */
export function findStaticUri(token: {
  chainId: number;
  contract_address: Hex;
  token_id: string;
  standard: string | null;
}): string | undefined {
  const found = STATIC_URIS[`${token.chainId}:${token.contract_address}`] ?? STANDARDS[token.standard ?? ""];
  if (!found) return undefined;
  const text = "uri" in found ? found.uri : `data:application/json;utf8,${JSON.stringify(found.document)}`;
  return text.replaceAll("{id}", token.token_id);
}
