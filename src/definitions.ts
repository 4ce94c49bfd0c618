import type { Definition } from "./define.ts";
import { punkSales } from "./cryptopunks.ts";
import { erc1155 } from "./erc1155.ts";
import { erc2309, erc721, erc721FirstGeneration } from "./erc721.ts";
import { blurV1, blurV2, foundation, looksrareV1, looksrareV2, seaportSales, wyvern, x2y2, zora } from "./exchanges.ts";
import { metadata } from "./metadata-update.ts";
import { approvals, conduits, seaportOrders } from "./orders.ts";
import { punkOrders } from "./punk-order.ts";
import { zoraAsks, zoraModules } from "./zora-ask.ts";

const both = (one: Definition, other: Definition): Definition => ({
  ...one,
  handlers: { ...one.handlers, ...other.handlers },
});

/** What each log does, by the names of `sources.ts`. */
export const definitions: Record<string, Definition> = {
  Erc721: erc721,
  Erc721FirstGeneration: erc721FirstGeneration,
  Erc2309: erc2309,
  Erc1155: erc1155,
  Metadata: metadata,
  Seaport: both(seaportSales, seaportOrders),
  ConduitController: conduits,
  Approval: approvals,
  BlurV1: blurV1,
  BlurV2: blurV2,
  LooksRareV1: looksrareV1,
  LooksRareV2: looksrareV2,
  X2Y2: x2y2,
  Wyvern: wyvern,
  Zora: both(zora, zoraAsks),
  ZoraModules: zoraModules,
  Foundation: foundation,
  CryptoPunks: both(punkSales, punkOrders),
};
