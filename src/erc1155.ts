import { ponder } from "ponder:registry";
import { movementsOfBatch } from "./movement.ts";
import { placeOf, recordLog } from "./record.ts";

ponder.on("Erc1155:TransferSingle", async ({ event, context }) => {
  const { from, to, id, value } = event.args;
  const place = placeOf(event);
  await recordLog(context, place, movementsOfBatch(place, { ids: [id], values: [value], from, to }));
});

ponder.on("Erc1155:TransferBatch", async ({ event, context }) => {
  const place = placeOf(event);
  await recordLog(context, place, movementsOfBatch(place, event.args));
});
