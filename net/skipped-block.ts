/**
 * The words in which a node says that the chain has no block of a number, and never will: Filecoin skips those of rounds
 * that nobody won. The block before it is the parent of the one behind it. Source: Lotus, ErrNullRound.
 */
export const SKIPPED_BLOCK = /null round/i;
