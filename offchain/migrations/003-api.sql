-- What the API keeps for itself.

-- Random values that every process shares and that never change. A cursor carries a MAC under 'cursor'.
create table secret (
  name text primary key,
  value bytea not null
);

-- Six random UUIDs hold 732 random bits, from Postgres's strong source and without an extension.
insert into secret (name, value)
select 'cursor', sha256(string_agg(uuid_send(gen_random_uuid()), ''))
from generate_series(1, 6);

-- Points taken in the current window, shared by all processes. Not worth a log: after a crash windows begin anew.
create unlogged table rate_limit (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

create index api_key_revoked on api_key (revoked_at) where revoked_at is not null;
