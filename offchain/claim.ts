/** How long what a worker has claimed stays hidden from other workers, in seconds. */
export const CLAIM_SECONDS = {
  /** Renewed while the token is being worked on. */
  token: 120,
  /** Two downloads of 30 s, and the waits for their hosts. */
  media: 300,
  /** Longer than the slowest batch. */
  contract: 120,
  contractUri: 300,
};
