import { erc2309Abi } from "../abis/erc2309.ts";
import { erc721Abi, erc721DraftAbi, erc721FirstGenerationAbi } from "../abis/erc721.ts";
import { define } from "./define.ts";
import { movementsOfRange } from "./movement.ts";

/** Transfers as EIP-721 has them, with four topics. */
export const erc721 = define(erc721Abi, {
  async Transfer({ place, args }, { recordLog }) {
    await recordLog(place, [{ ...place, standard: "ERC721", batchIndex: 0, ...args, quantity: 1n }]);
  },
});

/** Transfers that index nothing, with one topic. */
export const erc721FirstGeneration = define(erc721FirstGenerationAbi, {
  async Transfer({ place, args, topics }, { recordLog }) {
    // A Transfer with indexed fields and enough data decodes as this one too. The number of topics doesn't tell them
    // apart: logs from Ponder's cache always have four, null where there is none.
    if (topics[1]) return;
    await recordLog(place, [{ ...place, standard: "ERC721", batchIndex: 0, ...args, quantity: 1n }], {
      isFirstGeneration: true,
    });
  },
});

/** Transfers that index both addresses but not the token id, with three topics. */
export const erc721Draft = define(erc721DraftAbi, {
  async Transfer({ place, args, topics }, { recordLog }) {
    // A Transfer with another number of topics and enough data may decode as this one too.
    if (!topics[2] || topics[3]) return;
    await recordLog(place, [{ ...place, standard: "ERC721", batchIndex: 0, ...args, quantity: 1n }], {
      isFirstGeneration: true,
    });
  },
});

/** Ranges of ERC-721 tokens that move at once. */
export const erc2309 = define(erc2309Abi, {
  async ConsecutiveTransfer({ place, args }, { recordLog }) {
    const { fromTokenId: first, toTokenId: last, fromAddress: from, toAddress: to } = args;
    await recordLog(place, movementsOfRange(place, { first, last, from, to }));
  },
});
