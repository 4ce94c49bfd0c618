/** The exchanges whose sales and orders are told, by their names in answers. */
export const MARKETPLACES = [
  "seaport",
  "cryptopunks",
  "blur",
  "looksrare",
  "x2y2",
  "wyvern",
  "zora",
  "foundation",
  "payment-processor",
  "element",
  "superrare",
  "0x",
] as const;
