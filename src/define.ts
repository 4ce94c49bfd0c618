import type { Abi, ContractEventName, GetEventArgs, Hex } from "viem";
import type { LogPlace } from "./movement.ts";
import type { Context } from "./store.ts";

/** A log whose arguments could be decoded. */
export type Log<args = unknown> = {
  place: LogPlace;
  args: args;
  /** The first is the event's signature. Where a log has fewer than four, the others are missing or null. */
  topics: readonly (Hex | null)[];
  data: Hex;
  /** What the definition's `noteOf` has read from the transaction's call. */
  note: Hex | null;
};

/** What one event of a contract does to the rows. */
export type Handler<args = unknown> = (log: Log<args>, context: Context) => Promise<void>;

/** Handlers by event name. Names and arguments are those of the contract's ABI. */
type Handlers<abi extends Abi> = {
  [name in ContractEventName<abi>]?: Handler<
    GetEventArgs<abi, name, { EnableUnion: false; IndexedOnly: false; Required: true }>
  >;
};

/** Reads from a transaction what its logs lack and a handler needs, `Log.note`. */
export type NoteOf = (transaction: { to: Hex | null; input: Hex }, contractAddress: Hex) => Hex | null;

/** A contract's ABI and the handlers of its events. Events without a handler are not indexed. */
export type Definition = { abi: Abi; handlers: Record<string, Handler<never>>; noteOf?: NoteOf | undefined };

/** A definition whose handlers the compiler checks against the ABI. */
export function define<const abi extends Abi>(
  abi: abi,
  handlers: Handlers<abi>,
  { noteOf }: { noteOf?: NoteOf } = {},
): Definition {
  return { abi, handlers: handlers as Record<string, Handler<never>>, noteOf };
}
