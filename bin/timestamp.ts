/** A time for a terminal, to the second. The Z says that it is in UTC, whatever the machine's own zone. */
export const formatTimestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
