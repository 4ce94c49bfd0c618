/**
 * Settings by which Postgres notices within 25 s that a client is gone without a word, and ends its session and locks. The
 * operating system's defaults take two hours. Without effect on a Unix socket.
 */
export const KEEPALIVE = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };

/** The same while an answer is under way, when keepalive doesn't work: else it takes 15 minutes. In milliseconds. */
export const UNREAD_ANSWER = { tcp_user_timeout: 25_000 };

/**
 * Settings that our statements, Ponder's and the driver rely on, and that a server, a database or a role may have set
 * otherwise: isolation, whose table a name without a schema is (a temporary one first), the text forms of values, what a
 * backslash in a text and a NULL in an array mean, and how long a session may wait.
 */
export const DEFAULTS = {
  default_transaction_isolation: "read committed",
  search_path: "public",
  datestyle: "ISO",
  bytea_output: "hex",
  extra_float_digits: "1",
  standard_conforming_strings: "on",
  array_nulls: "on",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "0",
};

/** No limit for a statement: a migration, or an index of a large table, takes long. The API sets a limit of its own. */
export const UNBOUNDED = { statement_timeout: "0" };
