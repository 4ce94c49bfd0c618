import { blurV1, blurV2 } from "./blur.ts";
import { punkSales } from "./cryptopunks.ts";
import type { Definition } from "./define.ts";
import { element } from "./element.ts";
import { erc1155 } from "./erc1155.ts";
import { erc2309, erc721, erc721Draft, erc721FirstGeneration } from "./erc721.ts";
import { foundation } from "./foundation.ts";
import { looksrareV1, looksrareV2 } from "./looksrare.ts";
import { contractUpdate, metadata, metadataVariant } from "./metadata-update.ts";
import { paymentProcessorV1, paymentProcessorV2 } from "./payment-processor.ts";
import { punkOrders } from "./punk-order.ts";
import { approvals, conduits, seaport } from "./seaport-events.ts";
import { superRare, superRareBazaar } from "./superrare.ts";
import { wyvern } from "./wyvern.ts";
import { x2y2 } from "./x2y2.ts";
import { zeroEx } from "./zeroex.ts";
import { zoraAsks, zoraModules } from "./zora-ask.ts";
import { zoraAuctionHouse, zoraReserveAuction } from "./zora-auction.ts";
import { zora } from "./zora.ts";

const both = (one: Definition, other: Definition): Definition => ({
  ...one,
  handlers: { ...one.handlers, ...other.handlers },
});

/** The handlers of every source, by the source's name in `sources.ts`. */
export const definitions: Record<string, Definition> = {
  Erc721: erc721,
  Erc721FirstGeneration: erc721FirstGeneration,
  Erc721Draft: erc721Draft,
  Erc2309: erc2309,
  Erc1155: erc1155,
  Metadata: metadata,
  MetadataVariant: metadataVariant,
  ContractUpdate: contractUpdate,
  Seaport: seaport,
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
  ZoraReserveAuction: zoraReserveAuction,
  ZoraAuctionHouse: zoraAuctionHouse,
  Foundation: foundation,
  PaymentProcessorV1: paymentProcessorV1,
  PaymentProcessorV2: paymentProcessorV2,
  Element: element,
  SuperRare: superRare,
  SuperRareBazaar: superRareBazaar,
  ZeroEx: zeroEx,
  CryptoPunks: both(punkSales, punkOrders),
};
