import { flag, integer, oneOf, text } from "../http/field.ts";

/* What answers of more than one kind say of a contract or a token. */

export const ContractAddress = text("Address of the contract.");
export const ContractName = text(
  "What the contract says by `name()`, else by its `contractURI()`, up to 200 characters; empty where it has no name.",
);
export const ContractSymbol = text(
  "What the contract says by `symbol()`, up to 64 characters; empty where it has none.",
);
const IMAGE = "Link to the image that the contract's `contractURI()` names (ERC-7572), or a drawing (SVG) itself";
export const ContractImage = text(`${IMAGE}; null where none is known.`).nullable();
export const ContractImageText = text(`${IMAGE}; empty where none is known.`);
export const ContractType = oneOf(
  {
    ERC721: "each token has one owner",
    ERC1155: "a token may have many holders",
    CRYPTOPUNKS: "the market contract of 2017",
  },
  "As the contract says by ERC-165, else as its first event was. ",
);

export const TokenId = text("Token id, decimal.");
export const TokenIdHex = text("Token id in hex: 0x and 64 digits.");
export const CurrentOwner = text(
  "Address of the holder. Of several holders of an ERC-1155 token the one that received last; empty where nobody holds " +
    "it. The zero address where an ERC-721 token is burned.",
);
export const AskedOwner = text("Address of the account asked for.");
export const Balance = text("Extension: units that the account holds, decimal; 1 for ERC-721.");

export const MintAddress = text(
  "Receiver of the first transfer from the zero address; null where no mint was seen.",
).nullable();
export const MintTransaction = text("Hash of the transaction of the mint; null where none was seen.").nullable();

export const IsAwaitingMetadata = flag(
  "A fetch is due or under way: the first one, one that was asked for, or one after the contract said that metadata " +
    "has changed. False once it has ended, well or not.",
);
export const MetadataUpdatedAt = integer("Unix seconds of the last fetch that succeeded; null before it.").nullable();
export const RawMetadata = text(
  "The document as it was fetched, up to 5 MB; empty before the first fetch, and where the token's URI leads straight " +
    "to an image, film, sound or model.",
);
