import type { Patch } from "../../../module-patch.ts";
import { DEFAULTS, KEEPALIVE, UNREAD_ANSWER } from "../../../postgres/session.ts";

/** How Ponder writes to Postgres: its sessions, transactions, triggers and checkpoints. */
export const DATABASE_PATCHES: readonly Patch[] = [
  // For a reorg it drops the triggers of its tables, of three kinds, and makes them anew. Dropping waits for all readers,
  // others wait behind it, and Postgres keeps memory for each trigger as long as the session lasts. So they are disabled
  // instead: where Ponder makes them anew, by replacing them, they are enabled again.
  withoutDrop({
    trigger: "${getReorgTriggerName()}",
    table: '"${schema}"."${chainId === undefined ? getTableName(table) : getPartitionName(table, chainId)}"`',
  }),
  withoutDrop({
    trigger: "${trigger}",
    table: '"${schema}"."${chainId === undefined ? getTableName(table) : getPartitionName(table, chainId)}";`',
  }),
  withoutDrop({
    trigger: "${notifyTrigger}",
    table: '"${namespaceBuild.schema}"."${PONDER_CHECKPOINT_TABLE_NAME}";`',
  }),
  // For clients that follow a query, it makes a table for each block in which triggers note what has changed. There are no
  // such clients.
  ...Object.entries({
    "await createLiveQueryTriggers(database.adminQB, { namespaceBuild, tables });": "",
    "await tx.wrap((tx) => tx.execute(`CREATE TEMP TABLE ${getLiveQueryTempTableName()} (table_name TEXT PRIMARY KEY) ON COMMIT DROP`), context);":
      "",
    "await dropLiveQueryTriggers(tx, { namespaceBuild, tables }, context);": "",
    "await createLiveQueryTriggers(tx, { namespaceBuild, tables }, context);": "",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/multichain.js", find, replace })),
  {
    // Where the connection was lost at the end of a transaction, it did the transaction once more with the rows of the first
    // time in memory: it counted a block's units twice. Nobody told it whether the first had been committed. So it ends, and
    // the next Ponder goes on from what is in the tables.
    file: "/ponder/dist/esm/database/queryBuilder.js",
    find: `
                    const result = await callback(tx);
                    return result;
                }, config), {
                    isTransaction: true,`,
    replace: `
                    if (callback.isDone) throw new NonRetryableUserError("The connection to Postgres was lost while a transaction ended");
                    const result = await callback(tx);
                    callback.isDone = true;
                    return result;
                }, config), {
                    isTransaction: true,`,
  },
  // Where it was lost in a transaction within a transaction, it tried that one again for a minute, on the same connection.
  ...["", "\n                    label,"].map((label) => ({
    file: "/ponder/dist/esm/database/queryBuilder.js",
    find: `
                }, config), {${label}
                    isTransaction: true,
                    isTransactionStatement: false,`,
    replace: `
                }, config), {${label}
                    isTransaction: db.nestedIndex === undefined,
                    isTransactionStatement: db.nestedIndex !== undefined,`,
  })),
  {
    // What is said of a lost connection from the second statement on.
    file: "/ponder/dist/esm/database/queryBuilder.js",
    find: 'error?.message?.includes("Connection terminated unexpectedly") ||',
    replace: "/Connection terminated unexpectedly|connection error and is not queryable/.test(error?.message) ||",
  },
  // A Ponder whose indexer has lost the network's lock unawares may go on beside the next one for a while. What it wrote
  // while the next one has the triggers disabled nobody would take back. So each transaction of the rows ends with a look at
  // who began last.
  {
    file: "/ponder/dist/esm/database/index.js",
    find: "heartbeat_at: Date.now(),",
    replace: "heartbeat_at: Date.now(), run: (globalThis.PONDER_RUN ??= crypto.randomUUID()),",
  },
  {
    file: "/ponder/dist/esm/database/index.js",
    find: "if (checkpoints.length === 0) {",
    replace: `
                    if (checkpoints.length === 0) {
                        await tx.wrap((tx) => tx.update(PONDER_META).set({ value: metadata }), context);`,
  },
  {
    file: "/ponder/dist/esm/runtime/multichain.js",
    find: "const PONDER_META = getPonderMetaTable(namespaceBuild.schema);",
    replace: `
    const PONDER_META = getPonderMetaTable(namespaceBuild.schema);
    for (const qb of [database.userQB, database.adminQB]) {
        const begin = qb.transaction;
        qb.transaction = (...args) => {
            const place = args.findIndex((arg) => typeof arg === "function");
            const work = args[place];
            args[place] = async (tx) => {
                const result = await work(tx);
                const last = \`select value ->> 'run' as run from "\${namespaceBuild.schema}"._ponder_meta\`;
                const { rows } = await tx.execute(last);
                if (rows[0]?.run !== globalThis.PONDER_RUN)
                    throw new NonRetryableUserError("Another Ponder has taken these tables over");
                return result;
            };
            return begin(...args);
        };
    }`,
  },
  {
    // Blocks of one second have one time: by that it didn't notice that a node was behind, and indexed blocks twice.
    file: "/ponder/dist/esm/database/index.js",
    find: `
                    if (hexToBigInt(finalizedBlock.timestamp) <
                        decodeCheckpoint(finalizedCheckpoint).blockTimestamp) {`,
    replace: `
                    if (hexToBigInt(finalizedBlock.number) < decodeCheckpoint(finalizedCheckpoint).blockNumber) {`,
  },
  {
    // It went on to tell of the blocks that a reorg had taken out of the tables until the next one was there.
    file: "/ponder/dist/esm/runtime/multichain.js",
    find: "await createTriggers(tx, { tables }, context);",
    replace: `
                    await createTriggers(tx, { tables }, context);
                    await tx.wrap((db) => db
                        .update(PONDER_CHECKPOINT)
                        .set({ latestCheckpoint: event.checkpoint })
                        .where(eq(PONDER_CHECKPOINT.chainName, event.chain.name)), context);`,
  },
  {
    // So that its sessions, with their locks, end soon after the machine is lost. Timeouts of statements it sets by itself.
    // And a connection that ended before it was open it waited for without end. What it has committed is to be safe when
    // Postgres crashes: it goes on behind that, and what was lost would be missing for good.
    file: "/ponder/dist/esm/utils/pg.js",
    find: `
                super.connect(() => {
                    this.query(\`
            SET synchronous_commit = off;`,
    replace: `
                super.connect((error) => {
                    if (error) callback(error);
                    else this.query(\`
            ${Object.entries({ ...KEEPALIVE, ...UNREAD_ANSWER, ...DEFAULTS })
              .map(([name, value]) => `SET ${name} = '${value}';`)
              .join(" ")}`,
  },
  // What it keeps of a block it wrote with a parameter for each value: building such statements was a fifth of what it took
  // to follow a busy chain. A list for each column does.
  ...Object.entries({
    "import { unionAll, }": `
import { getTableColumns } from "drizzle-orm";
const rowsOf = (table, rows) => {
    const lists = Object.entries(getTableColumns(table)).map(([name, column]) => {
        const values = rows.map((row) => (row[name] == null ? null : column.mapToDriverValue(row[name])));
        // Cast to a type of limited length, a text would be cut off without a word.
        const type = column.getSQLType().replace(/\\(.*/, "");
        return sql\`\${sql.param(values)}::\${sql.raw(type)}[]\`;
    });
    return sql\`select * from unnest(\${sql.join(lists, sql\`, \`)})\`;
};
const insertInto = (db, table) => ({ values: (rows) => db.insert(table).select(rowsOf(table, rows)) });
import { unionAll, }`,
    ...Object.fromEntries(
      ["logs", "blocks", "transactions"].map((table) => [
        `db
                    .insert(PONDER_SYNC.${table})`,
        `insertInto(db, PONDER_SYNC.${table})`,
      ]),
    ),
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-store/index.js", find, replace })),
];

/** `table`: to the end of the statement. */
function withoutDrop({ trigger, table }: { trigger: string; table: string }): Patch {
  return {
    file: "/ponder/dist/esm/database/actions.js",
    find: `DROP TRIGGER IF EXISTS "${trigger}" ON ${table}`,
    // At a start there may be none.
    replace: `
      DO $$
      BEGIN
        ALTER TABLE ${table.replace(/;?`$/, "")} DISABLE TRIGGER "${trigger}";
      EXCEPTION WHEN undefined_object THEN
      END $$\``,
  };
}
