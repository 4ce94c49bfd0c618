import type { Abi, ContractEventName, GetEventArgs, Hex } from "viem";
import type { LogPlace } from "./movement.ts";
import type { Context } from "./store.ts";

/** A log whose arguments could be decoded. */
export type Log<args = unknown> = {
  place: LogPlace;
  args: args;
  /** The first is the event's. One that isn't there may be missing or null. */
  topics: readonly (Hex | null)[];
  data: Hex;
  /** What `noteOf` has taken of the call of its transaction. */
  note: Hex | null;
};

/** What one event of a contract does to the rows. */
export type Handler<args = unknown> = (log: Log<args>, context: Context) => Promise<void>;

/** Handlers by name of the event: names and arguments as the contract's interface has them. */
export type Handlers<abi extends Abi> = {
  [name in ContractEventName<abi>]?: Handler<
    GetEventArgs<abi, name, { EnableUnion: false; IndexedOnly: false; Required: true }>
  >;
};

/** What a contract's logs can't do without of the transaction they are in. */
export type NoteOf = (transaction: { to: Hex | null; input: Hex }, contractAddress: Hex) => Hex | null;

/** A contract's interface, and what those of its events do that have a handler. */
export type Definition = { abi: Abi; handlers: Record<string, Handler<never>>; noteOf?: NoteOf | undefined };

/** Checks handlers against the interface. */
export function define<const abi extends Abi>(
  abi: abi,
  handlers: Handlers<abi>,
  { noteOf }: { noteOf?: NoteOf } = {},
): Definition {
  return { abi, handlers: handlers as Record<string, Handler<never>>, noteOf };
}
