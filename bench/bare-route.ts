/**
 * What an answer out of Postgres costs at least: Hono with routes that only send finished texts, found by their key. No
 * callers, no limits, no ETag, nothing to join or to judge.
 *
 *   DATABASE_URL=… node bench/bare-route.ts
 *
 * `/one/SIZE/ID` sends a text of SIZE bytes, `/page/SIZE/ID` a hundred that have as many together. They are made when
 * a size is first asked for. Prints "bare at PORT".
 */
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { PLANNER_SETTINGS } from "../api/sql/database.ts";
import { createTokenLoader } from "../api/token/token-loader.ts";
import { createPool } from "../postgres/pool.ts";

const TEXTS = 100_000;
const PAGE_TEXTS = 100;
const PREPARED = { prepare: true };

const sql = createPool(process.env.DATABASE_URL ?? "", { max: 6, connection: PLANNER_SETTINGS });

type Texts = { one: (id: string) => Promise<string | undefined>; page: (id: string) => Promise<string | undefined> };

/** Makes texts of so many bytes, which no compression makes much shorter. */
async function makeTexts(length: number): Promise<Texts> {
  const table = `public.bare_${length}`;
  const words = `select string_agg(md5(id || '.' || word), '') from generate_series(0, ${length} / 32) as word`;
  await sql.unsafe(`
    create table ${table} as
    select id::bigint as id, left((${words}), ${length}) as text from generate_series(1, ${TEXTS}) as id
  `);
  await sql.unsafe(`alter table ${table} add primary key (id)`);
  await sql.unsafe(`vacuum analyze ${table}`);
  // As the API looks single tokens up: those that are asked for at the same moment by one statement.
  const load = createTokenLoader(async (tokens) => {
    const rows = await sql.unsafe<{ json: string; place: number }[]>(
      `
        select found.text as json, wanted.place::int - 1 as place
        from unnest($1::bigint[]) with ordinality as wanted (id, place)
        join ${table} as found on found.id = wanted.id
      `,
      [`{${tokens.map(({ token_id }) => token_id).join()}}`],
      PREPARED,
    );
    return rows;
  });
  return {
    one: (tokenId) => load({ contractAddress: "", tokenId }),
    page: async (id) => {
      const [row] = await sql.unsafe<{ texts: string }[]>(
        `
          select string_agg(text, ',') as texts
          from (select text from ${table} where id >= $1 order by id limit ${PAGE_TEXTS}) as page
        `,
        [id],
        PREPARED,
      );
      return row?.texts;
    },
  };
}

const made = new Map<number, Promise<Texts>>();
function textsOf(length: number): Promise<Texts> {
  let texts = made.get(length);
  if (!texts) made.set(length, (texts = makeTexts(length)));
  return texts;
}

const send = (c: Context, text: string | undefined) => c.body(text ?? "", 200, { "content-type": "application/json" });
const app = new Hono();
app.get("/one/:size/:id", async (c) => {
  const texts = await textsOf(Number(c.req.param("size")));
  return send(c, await texts.one(c.req.param("id")));
});
app.get("/page/:size/:id", async (c) => {
  const texts = await textsOf(Math.floor(Number(c.req.param("size")) / PAGE_TEXTS) - 1);
  return send(c, await texts.page(c.req.param("id")));
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log(`bare at ${port}`));
