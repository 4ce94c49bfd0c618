import { Buffer } from "node:buffer";
import type { LogPlace, Movement } from "../../src/movement.ts";
import { addContract } from "./contract-table.ts";
import { IS_ERC1155, createMovementView } from "../fold/movement-record.ts";
import { APPROVAL, BATCH, type Plan, placeAmong, TRANSFER } from "./plan.ts";
import { ONE_WORD, recordApproval, type Recorder, recordMovement } from "./recorder.ts";
import type { RowStore } from "./row-store.ts";
import type { Trades } from "./trades.ts";
import { ADDRESS_AT, ADDRESS_BYTES, smallWord, WORD_BYTES } from "../word.ts";

/** Hands the movements of a chunk's logs to the recorder, for contracts that aren't tracked. */
type Mover = {
  /** Sets the log to which the next movements belong. */
  begin: (log: number) => void;
  /** Records a log that goes a short way. */
  moveShort: (log: number, way: number) => void;
  /** Records movements that a definition read from the current log. */
  moveAll: (place: LogPlace, movements: readonly Movement[], options?: { isFirstGeneration?: boolean }) => void;
};

type Options = {
  plan: Plan;
  recorder: Recorder;
  store: RowStore;
  trades: Trades;
  transactionBase: number;
};

/** Creates the mover of a chunk. `transactionBase`: how many transactions the chunks before it had. */
export function createMover({ plan, recorder, store, trades, transactionBase }: Options): Mover {
  const { chunk, hasTrade, contractOf, addresses } = plan;
  const { logs } = chunk;
  const { words, wordOf, wordStartOf, blocks, transactions } = logs;
  const { contracts } = recorder;
  const view = createMovementView();
  view.hashBytes = transactions.hashes;
  const made = Buffer.alloc(WORD_BYTES * 4);
  let current = 0;

  const begin = (log: number) => {
    const block = logs.blockOf[log]!;
    const transaction = logs.transactionOf[log]!;
    view.blockNumber = blocks.numbers[block]!;
    view.timestamp = blocks.timestamps[block]!;
    view.place = transactionBase + transaction;
    view.hashStart = transaction * WORD_BYTES;
    view.logIndex = logs.logIndexOf[log]!;
    current = log;
  };

  /** The contract's number. Makes its row if it is new. */
  const contractAt = (address: number, isErc1155: boolean, isFirstGeneration: boolean): number => {
    const known = contractOf[address]!;
    if (known >= 0) return known;
    const number = addContract(contracts, addresses, address * ADDRESS_BYTES, { isErc1155 });
    contractOf[address] = number;
    void store.insert("contract", {
      contract_address: logs.addresses[address]!,
      contract_type: isErc1155 ? "ERC1155" : "ERC721",
      is_first_generation: isFirstGeneration,
      block_number: view.blockNumber,
      log_index: view.logIndex,
    });
    return number;
  };

  const moveWords = (flags: number, from: number, to: number, id: number, quantity: number, batchIndex: number) => {
    view.flags = flags;
    view.fromBytes = view.toBytes = view.idBytes = words;
    view.fromStart = wordOf[from]! * WORD_BYTES + ADDRESS_AT;
    view.toStart = wordOf[to]! * WORD_BYTES + ADDRESS_AT;
    view.idStart = wordOf[id]! * WORD_BYTES;
    view.idEnd = view.idStart + WORD_BYTES;
    view.quantityBytes = quantity < 0 ? ONE_WORD : words;
    view.quantityStart = quantity < 0 ? 0 : wordOf[quantity]! * WORD_BYTES;
    view.quantityEnd = view.quantityStart + WORD_BYTES;
    view.batchIndex = batchIndex;
    recordMovement(recorder, view);
  };

  const moveShort: Mover["moveShort"] = (log, way) => {
    begin(log);
    const topics = wordStartOf[log]!;
    const data = topics + 4;
    const isTrade = hasTrade[logs.transactionOf[log]!] === 1;
    const address = logs.addressOf[log]!;
    if (way === APPROVAL) {
      recordApproval(recorder, {
        place: view,
        address: { bytes: addresses, start: address * ADDRESS_BYTES },
        words,
        owner: wordOf[topics + 1]! * WORD_BYTES + ADDRESS_AT,
        operator: wordOf[topics + 2]! * WORD_BYTES + ADDRESS_AT,
        isApproved: smallWord(logs, topics + logs.topicCountOf[log]!) === 1,
      });
      return;
    }
    if (way === TRANSFER) {
      view.contract = contractAt(address, false, false);
      moveWords(0, topics + 1, topics + 2, topics + 3, -1, 0);
      if (isTrade) trades.addLog(log);
      return;
    }
    const isBatch = way === BATCH;
    const count = isBatch ? smallWord(logs, data + 2) : 1;
    if (count === 0) return;
    view.contract = contractAt(address, true, false);
    for (let index = 0; index < count; index++) {
      const id = isBatch ? data + 3 + index : data;
      const quantity = isBatch ? data + 4 + count + index : data + 1;
      moveWords(IS_ERC1155, topics + 2, topics + 3, id, quantity, index);
    }
    if (isTrade) trades.addLog(log);
  };

  const moveAll: Mover["moveAll"] = (place, movements, { isFirstGeneration = false } = {}) => {
    const [first] = movements;
    if (!first) return;
    const isErc1155 = first.standard === "ERC1155";
    view.contract = contractAt(placeAmong(plan, place.contractAddress), isErc1155, isFirstGeneration);
    view.fromBytes = view.toBytes = view.idBytes = view.quantityBytes = made;
    view.idStart = 0;
    view.idEnd = view.quantityStart = WORD_BYTES;
    view.quantityEnd = view.fromStart = 2 * WORD_BYTES;
    view.toStart = 3 * WORD_BYTES;
    for (const { tokenId, quantity, from, to, batchIndex } of movements) {
      view.flags = isErc1155 ? IS_ERC1155 : 0;
      writeWord(made, 0, tokenId);
      writeWord(made, WORD_BYTES, quantity);
      made.write(from.slice(2), view.fromStart, "hex");
      made.write(to.slice(2), view.toStart, "hex");
      view.batchIndex = batchIndex;
      recordMovement(recorder, view);
    }
    if (hasTrade[logs.transactionOf[current]!] === 1) trades.addHops(current, movements);
  };

  return { begin, moveShort, moveAll };
}

function writeWord(to: Buffer, at: number, value: bigint): void {
  to.write(value.toString(16).padStart(2 * WORD_BYTES, "0"), at, "hex");
}
