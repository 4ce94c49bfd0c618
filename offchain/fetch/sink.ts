/** Where a body goes as it arrives. A promise holds what brings it back. */
export type Sink = { write: (chunk: Buffer) => Promise<void> | void };

/** A sink that can be thrown away half full. */
export type DisposableSink = Sink & { dispose?: () => void };
