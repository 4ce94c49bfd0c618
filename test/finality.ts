/**
 * Ponder takes blocks so deep for final on a chain that it doesn't know, as those of the tests are: history ends one below,
 * and a deeper reorg isn't followed.
 */
export const FINALITY = 30;
