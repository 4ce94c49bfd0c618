/** Takes a body as it arrives. A promise pauses the body until it resolves. */
export type Sink = { write: (chunk: Buffer) => Promise<void> | void };

/** A sink that can be thrown away half full. */
export type DisposableSink = Sink & { dispose?: () => void };
