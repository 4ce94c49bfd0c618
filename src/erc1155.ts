import { ponder } from "ponder:registry";
import { readBatch } from "./batch.ts";
import { movementsOfBatch } from "./movement.ts";
import { placeOf, recordLog } from "./record.ts";

ponder.on("Erc1155:TransferSingle", async ({ event, context }) => {
  const { from, to, id, value } = event.args;
  const place = placeOf(event);
  await recordLog(context, place, movementsOfBatch(place, { ids: [id], values: [value], from, to }));
});

ponder.on("Erc1155:TransferBatch", async ({ event, context }) => {
  const { from, to } = event.args;
  const arrays = readBatch(event.log.data);
  if (!arrays) return;
  const place = placeOf(event);
  await recordLog(context, place, movementsOfBatch(place, { ...arrays, from, to }));
});
