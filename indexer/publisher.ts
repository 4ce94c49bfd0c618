import type { Sql } from "postgres";
import { SEAPORT_ADDRESSES } from "../abis/seaport.ts";
import type { Config } from "../config.ts";
import { createBackground } from "./background.ts";
import type { Deployment } from "./deployment.ts";
import type { Head } from "./head.ts";
import { createIndexes } from "./indexes.ts";
import { type Position, readPosition } from "./ponder/ponder-position.ts";
import { createPruning } from "./pruning.ts";
import { isBusy, isShown, publish, unpublish } from "./publication.ts";

/** Between two tries to make the indexes of published tables. */
const INDEXES_AGAIN_MS = 60_000;

/** Decides which tables a network's readers see. What takes long runs beside the caller, one thing at a time. */
type Publisher = {
  /** Until ours is complete, readers see another version's tables, by views that fit this version. */
  adapt: (other: Deployment) => Promise<void>;
  /** Readers see these tables no more: they are of a chain with another id, and would be answered as this one's. */
  hide: (other: Deployment) => Promise<void>;
  /**
   * Does what is due for the newest deployment: shows it to readers while nothing was ever complete, publishes it once
   * they lose nothing by that, shows the published one again where they see another, makes indexes that this version has
   * in addition, drops what is older.
   *
   * @throws Error why it couldn't be published
   */
  step: (found: {
    newest: Deployment;
    published: Deployment | undefined;
    position: Position | undefined;
  }) => Promise<void>;
  /** Waits for what runs beside. */
  settled: () => Promise<void>;
  /** Drops what is older than the published deployment. Nobody here may follow it any more. */
  dropOld: (published: Deployment) => Promise<void>;
};

/** `say` takes a line about what failed and is tried again. */
export function createPublisher(
  sql: Sql,
  {
    config,
    head,
    endBlock,
    say,
  }: { config: Config; head: Readonly<Head>; endBlock: number | undefined; say: (line: string) => void },
): Publisher {
  const background = createBackground();
  const prune = createPruning(sql, { config });
  let publishError: Error | undefined;
  /** Schemas of the deployments for which these were done. */
  const done: { adapted?: string; previewed?: string; shown?: string; indexed?: string | undefined } = {};
  /** Schemas that readers saw until they were hidden: once, so that two indexers don't take turns. */
  const hidden = new Set<string>();
  let indexesFailedAt = -Infinity;

  const completeWhenCaughtUp = async (newest: Deployment, published: Deployment | undefined) => {
    const isCaughtUp = () => hasCaughtUp(sql, { newest, published, head, endBlock });
    if (!(await isCaughtUp())) return;
    background.run(
      () => complete(sql, newest, { config, isCaughtUp }),
      (error) => {
        if (!isBusy(error)) publishError = error;
      },
    );
  };

  const makeIndexes = (newest: Deployment) => {
    done.indexed = newest.schema_name;
    background.run(
      () => createIndexes(sql, newest),
      (error) => {
        say(`indexes can't be made: ${error.message}. Tries again`);
        done.indexed = undefined;
        indexesFailedAt = performance.now();
      },
    );
  };

  const sayLeft = (error: Error) => say(`old tables can't be dropped: ${error.message}`);

  return {
    adapt: async (other) => {
      if (done.adapted === other.schema_name || background.isBusy()) return;
      if (await preview(sql, other)) done.adapted = other.schema_name;
    },
    hide: async (other) => {
      if (hidden.has(other.schema_name) || background.isBusy() || !(await isShown(sql, other))) return;
      if (await unlessBusy(unpublish(sql, other))) hidden.add(other.schema_name);
    },
    step: async ({ newest, published, position }) => {
      if (publishError) throw publishError;
      if (position && !published && done.previewed !== newest.schema_name) {
        if (await preview(sql, newest)) done.previewed = newest.schema_name;
      }
      if (background.isBusy()) return;
      // In its place may stand the preview of another chain, which was followed in between and given up.
      if (published && done.shown !== published.schema_name) {
        if (!(await isShown(sql, published)) && !(await preview(sql, published))) return;
        done.shown = published.schema_name;
      }
      const isPublished = published?.schema_name === newest.schema_name;
      const isRested = performance.now() - indexesFailedAt > INDEXES_AGAIN_MS;
      if (!isPublished) await completeWhenCaughtUp(newest, published);
      else if (done.indexed !== newest.schema_name && isRested) makeIndexes(newest);
      else background.run(() => prune(newest), sayLeft);
    },
    settled: background.settled,
    dropOld: (published) => prune(published).catch(sayLeft),
  };
}

/** Shows readers a deployment that isn't complete. False where views of before are still being read: try again. */
const preview = (sql: Sql, deployment: Deployment) => unlessBusy(publish(sql, deployment, { isComplete: false }));

/** Whether it was done. */
async function unlessBusy(publishing: Promise<void>): Promise<boolean> {
  try {
    await publishing;
    return true;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return false;
  }
}

/** Publishes a deployment for good: indexes first, so that no reader scans whole tables. The chain goes on meanwhile. */
async function complete(
  sql: Sql,
  deployment: Deployment,
  { config, isCaughtUp }: { config: Config; isCaughtUp: () => Promise<boolean> },
): Promise<void> {
  await createIndexes(sql, deployment);
  if (!(await isCaughtUp())) return;
  await publish(sql, deployment, { isComplete: true, exchanges: [...SEAPORT_ADDRESSES, ...config.seaportAddresses] });
}

/**
 * Whether readers lose nothing when the newest deployment takes over. Ponder is ready when the final blocks are done, but
 * the published deployment has the blocks above them as well.
 */
async function hasCaughtUp(
  sql: Sql,
  {
    newest,
    published,
    head,
    endBlock = Infinity,
  }: {
    newest: Deployment;
    published: Deployment | undefined;
    head: Readonly<Head>;
    endBlock: number | undefined;
  },
): Promise<boolean> {
  const seen = published && (await readPosition(sql, published));
  const position = await readPosition(sql, newest);
  return position?.isReady === true && position.indexedBlock >= Math.min(seen?.indexedBlock ?? 0, head.block, endBlock);
}
