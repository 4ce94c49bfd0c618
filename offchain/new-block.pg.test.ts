import { expect, test } from "vitest";
import { createReadableDatabase, useDatabase } from "../test/database.ts";
import { createNewBlockCheck } from "./new-block.ts";

const { sql } = await useDatabase(createReadableDatabase, { max: 1 });

const setHead = (block: number) => sql`
  insert into offchain.network (name, chain_id, state, head_block)
  values ('mainnet', 1, 'live', ${block})
  on conflict (name) do update set head_block = excluded.head_block
`;

test("contracts are asked once a block, also after a reorg, and again on the same one some time later", async () => {
  await setHead(7);
  const [isNew, isNewSoon] = [60_000, 0].map((againMs) => createNewBlockCheck(sql, { network: "mainnet", againMs }));
  const asked: boolean[] = [];
  for (const block of [7, 7, 8, 8, 7]) {
    await setHead(block);
    asked.push(await isNew!());
    expect(await isNewSoon!()).toBe(true);
  }
  expect(asked).toEqual([true, false, true, false, true]);
});
