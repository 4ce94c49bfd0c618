/**
 * Settings by which Postgres ends the session, and with it the locks, of a client that is gone without a word: within
 * 25 s, where the operating system's defaults take two hours. Without effect on a Unix socket.
 */
export const KEEPALIVE = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };

/** The same while an answer is under way, where keepalive is silent: else it takes a quarter of an hour. In milliseconds. */
export const UNREAD_ANSWER = { tcp_user_timeout: 25_000 };

/**
 * What a server, a database or a role may have set otherwise: how writers meet, how values are written that the driver
 * reads, and how long waiting may take.
 */
export const DEFAULTS = {
  default_transaction_isolation: "read committed",
  datestyle: "ISO",
  bytea_output: "hex",
  extra_float_digits: "1",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
};

/** No limit: a migration, or an index of a large table, takes its time. The API sets a limit for its own statements. */
export const UNBOUNDED = { statement_timeout: "0" };
