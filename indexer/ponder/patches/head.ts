import type { Patch } from "../../../module-patch.ts";

/** How Ponder follows the head of a chain, and its reorgs. */
export const HEAD_PATCHES: readonly Patch[] = [
  {
    // A head whose logs couldn't be fetched, because a backend lagged, would count as seen. It wouldn't be asked for again
    // before the next block, which on a quiet chain may never come.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "onError(_error, block);",
    replace: `
                if (latestFetchedBlock === block) latestFetchedBlock = undefined;
                onError(_error, block);`,
  },
  // Twice a second it asked for the head with all its transactions, which on Ethereum are hundreds of kilobytes and new each
  // twelve seconds. Now they are asked for once the head has another hash, and again where it couldn't be indexed.
  ...Object.entries({
    "let isUnsubscribed = false;": "let isUnsubscribed = false; let taken;",
    'const block = await eth_getBlockByNumber(rpc, ["latest", true]);': `
                                const head = await eth_getBlockByNumber(rpc, ["latest", false], { isLook: true });
                                if (head.hash === taken) return;
                                taken = head.hash;
                                const block = await eth_getBlockByNumber(rpc, ["latest", true], { isLook: true });
                                taken = block.hash;`,
    "await onBlock(block);": "if (!(await onBlock(block)) && taken === block.hash) taken = undefined;",
    "catch (error) {\n                                onError(error);": `
                            catch (error) {
                                taken = undefined;
                                onError(error);`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/rpc/index.js", find, replace })),
  {
    // A head that it has already isn't one that couldn't be indexed.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: `
                        msg: "Detected duplicate block",
                        chain: args.chain.name,
                        chain_id: args.chain.id,
                        number: hexToNumber(block.number),
                        hash: block.hash,
                    });
                    blockCallback?.(false);`,
    replace: `
                    });
                    blockCallback?.(true);`,
  },
  {
    // The head of a backend that is some blocks behind it took for a reorg, and dropped what it had above until the next one
    // told of it: readers saw the last blocks come and go. A head that is one of its own blocks says nothing.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "if (latestBlock.hash === block.hash ||",
    replace: "if ([finalizedBlock, ...unfinalizedBlocks].some(({ hash }) => hash === block.hash) ||",
  },
  {
    // Where a reorg's blocks can't be had it gives up, having dropped blocks of its own whose rows are still there: those
    // would stay, or come twice. It finds the reorg again at the next head.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "remoteBlock = await eth_getBlockByHash(args.rpc, [remoteBlock.parentHash, false], context);",
    replace: `
                try {
                    remoteBlock = await eth_getBlockByHash(args.rpc, [remoteBlock.parentHash, false], context);
                } catch (error) {
                    unfinalizedBlocks.push(...reorgedBlocks);
                    throw error;
                }`,
  },
  // Where the chain skips numbers (`net/skipped-block.ts`) the next block isn't one that others are missing before, going
  // back along a reorg may pass none or several of its own blocks, and the number that becomes final may be of no block.
  ...Object.entries({
    "if (hexToNumber(latestBlock.number) + 1 < hexToNumber(block.number)) {":
      "if (hexToNumber(latestBlock.number) + 1 < hexToNumber(block.number) && block.parentHash !== latestBlock.hash) {",
    [`
            if (unfinalizedBlocks.length === 0) {
                // No`]: `
            if (hexToNumber(remoteBlock.number) <= hexToNumber(finalizedBlock.number) + 1) {
                // No`,
    "reorgedBlocks.unshift(unfinalizedBlocks.pop());": `
                while (unfinalizedBlocks.length > 0) {
                    const { hash, number } = getLatestUnfinalizedBlock();
                    if (hash === remoteBlock.hash || hexToNumber(number) < hexToNumber(remoteBlock.number)) break;
                    reorgedBlocks.unshift(unfinalizedBlocks.pop());
                }
                if (getLatestUnfinalizedBlock().hash === remoteBlock.hash) break;`,
    [`unfinalizedBlocks.find((lb) => hexToNumber(lb.number) ===
                hexToNumber(block.number) - args.chain.finalityBlockCount);`]: `
                unfinalizedBlocks.findLast((lb) => hexToNumber(lb.number) <=
                    hexToNumber(block.number) - args.chain.finalityBlockCount) ?? finalizedBlock;`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-realtime/index.js", find, replace })),
  {
    // Whatever a node says of a block's logs, it asked for them for a minute, all other blocks behind it: a reorg may have
    // taken the block away meanwhile. It begins again with the head that it finds next, twice a second.
    // So long it asked for the head as well, beside each look at it that came after: five times as often as while all is
    // well, which a node that refuses by the number of requests, those that it refuses too, takes for a reason to go on. A
    // look is given up when the next one is about due.
    file: "/ponder/dist/esm/rpc/index.js",
    find: "if (i === RETRY_COUNT) {",
    replace: `
                    const isGivenUp =
                        (i === 3 && error.code !== 429 && body.params?.[0]?.blockHash !== undefined) ||
                        (context?.isLook && BASE_DURATION * 2 ** (i + 2) > chain.pollingInterval);
                    if (i === RETRY_COUNT || isGivenUp) {`,
  },
  {
    // It was done as soon as the last block that is wanted was the head, and followed no reorg of it.
    file: "/ponder/dist/esm/runtime/realtime.js",
    find: "if (block.number === params.syncProgress.end?.number) {",
    replace: `
        const { end, finalized } = params.syncProgress;
        if (end !== undefined && hexToNumber(finalized.number) >= hexToNumber(end.number)) {`,
  },
];
