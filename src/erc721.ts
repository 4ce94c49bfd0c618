import { ponder } from "ponder:registry";
import { movementsOfRange } from "./movement.ts";
import { placeOf, recordLog } from "./record.ts";

ponder.on("Erc721:Transfer", async ({ event, context }) => {
  const { from, to, tokenId } = event.args;
  const place = placeOf(event);
  await recordLog(context, place, [{ ...place, standard: "ERC721", batchIndex: 0, tokenId, from, to, quantity: 1n }]);
});

ponder.on("Erc721FirstGeneration:Transfer", async ({ event, context }) => {
  // A Transfer with something indexed and enough data behind it decodes as this one too. Out of the cache a log has four
  // topics, null where there is none, so their number says nothing.
  if (event.log.topics[1]) return;
  const { from, to, tokenId } = event.args;
  const place = placeOf(event);
  await recordLog(context, place, [{ ...place, standard: "ERC721", batchIndex: 0, tokenId, from, to, quantity: 1n }], {
    isFirstGeneration: true,
  });
});

ponder.on("Erc2309:ConsecutiveTransfer", async ({ event, context }) => {
  const { fromTokenId: first, toTokenId: last, fromAddress: from, toAddress: to } = event.args;
  const place = placeOf(event);
  await recordLog(context, place, movementsOfRange(place, { first, last, from, to }));
});
