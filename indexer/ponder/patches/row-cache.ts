import type { Patch } from "../../../module-patch.ts";

/** How Ponder finds the rows that indexing functions ask for, and keeps them in memory. */
export const ROW_CACHE_PATCHES: readonly Patch[] = [
  {
    // It starts a Postgres parser to learn what a statement of an indexing function does: half a second of a start. Ours are
    // a `do` and a `select`. Before them all rows in memory are written, instead of those of the statement's tables.
    file: "/ponder/dist/esm/indexing-store/index.js",
    find: "const isSelectOnly = await isReadonlySQLQuery(_sql);",
    replace: "const isSelectOnly = /^select /.test(_sql);",
  },
  {
    file: "/ponder/dist/esm/indexing-store/index.js",
    find: "relations = await getSQLQueryRelations(_sql);",
    replace: "",
  },
  // It reads each row that isn't in memory by a query of its own, and waits for it. `find` with several keys reads them
  // together, for those that follow.
  {
    file: "/ponder/dist/esm/indexing-store/index.js",
    find: 'checkTableAccess(table, "find", key, chainId);',
    replace: `
                if (Array.isArray(key)) {
                    await Promise.all(key.map((one) => indexingCache.get({ table, key: one })));
                    return null;
                }
                checkTableAccess(table, "find", key, chainId);`,
  },
  {
    file: "/ponder/dist/esm/indexing-store/cache.js",
    find: "const insertBuffer = new Map();",
    replace: `
    const insertBuffer = new Map();
    const wanted = new Map();
    /** Most rows that one query reads. */
    const MOST_TOGETHER = 5_000;
    const isOneOf = (table, keys) => {
        const names = getPrimaryKeyColumns(table).map(({ js }) => js);
        const lists = names.map((name) => {
            const values = keys.map((key) => table[name].mapToDriverValue(key[name]));
            return sql\`\${sql.param(values)}::\${sql.raw(table[name].getSQLType())}[]\`;
        });
        const columns = sql.join(names.map((name) => table[name]), sql\`, \`);
        return sql\`(\${columns}) in (select * from unnest(\${sql.join(lists, sql\`, \`)}))\`;
    };
    const readSoon = (table, key) => {
        let batch = wanted.get(table);
        if (batch === undefined || batch.keys.length === MOST_TOGETHER) {
            const keys = [];
            const read = Promise.resolve().then(() => {
                if (wanted.get(table)?.keys === keys) wanted.delete(table);
                const isWanted = keys.length === 1 ? getWhereCondition(table, keys[0]) : isOneOf(table, keys);
                return qb.wrap((db) => db.select().from(table).where(isWanted));
            });
            const keyOf = (row) => getCacheKey(table, row, primaryKeyCache);
            const rows = read.then((found) => new Map(found.map((row) => [keyOf(row), row])));
            batch = { keys, rows };
            wanted.set(table, batch);
        }
        batch.keys.push(key);
        return batch.rows;
    };`,
  },
  {
    file: "/ponder/dist/esm/indexing-store/cache.js",
    find: `
            const result = await qb
                .wrap((db) => db.select().from(table).where(getWhereCondition(table, key)))
                .then((res) => (res.length === 0 ? null : res[0]))`,
    replace: `
            const result = await readSoon(table, key)
                .then((rows) => rows.get(ck) ?? null)`,
  },
  {
    // It learns from events which rows the next ones will ask for, and reads those of a block together. At the head it no
    // longer said which event is handled: it learned nothing more, and after a while predicted nothing.
    file: "/ponder/dist/esm/indexing/index.js",
    find: `
                client.event = event;
                await executeEvent(event);`,
    replace: `
                client.event = event;
                indexingCache.event = event;
                await executeEvent(event);`,
  },
  {
    // What it predicts of rows that events will ask for is a guess: a step's number may have been a token's id, an address
    // a text. What no column holds stopped it.
    file: "/ponder/dist/esm/indexing-store/cache.js",
    find: "const row = recoverProfilePattern(pattern, event);",
    replace: `
                                const row = recoverProfilePattern(pattern, event);
                                const most = { PgInteger: 2 ** 31, PgBigInt53: 2 ** 53 };
                                const fits = (name) => {
                                    const [value, { columnType }] = [row[name], table[name]];
                                    if (columnType === "PgCustomColumn") return /^0x(?:[\\da-f]{2})*$/i.test(value);
                                    return value != null && !(Math.abs(Number(value)) >= most[columnType]);
                                };
                                if (!Object.keys(row).every(fits)) continue;`,
  },
  // So did more keys than a statement takes parameters, and their conditions took it a millisecond each.
  ...Object.entries({
    [`dedupe(Array.from(tablePredictions), ([key]) => key).map(([, prediction]) => getWhereCondition(table, prediction))`]:
      "[...tablePredictions.values()]",
    ".where(or(...conditions))": ".where(isOneOf(table, conditions))",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/indexing-store/cache.js", find, replace })),
];
