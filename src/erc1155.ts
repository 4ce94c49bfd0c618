import { erc1155Abi } from "../abis/erc1155.ts";
import { readBatch } from "./batch.ts";
import { define } from "./define.ts";
import { movementsOfBatch } from "./movement.ts";

/** The movements of ERC-1155 tokens. */
export const erc1155 = define(erc1155Abi, {
  async TransferSingle({ place, args: { from, to, id, value } }, { recordLog }) {
    await recordLog(place, movementsOfBatch(place, { ids: [id], values: [value], from, to }));
  },

  async TransferBatch({ place, args: { from, to }, data }, { recordLog }) {
    const arrays = readBatch(data);
    if (!arrays) return;
    await recordLog(place, movementsOfBatch(place, { ...arrays, from, to }));
  },
});
