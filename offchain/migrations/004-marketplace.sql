-- Collections of the main network that the operator vouches for.
create table verified_collection (
  contract_address bytea primary key check (octet_length(contract_address) = 20),
  verified_at timestamptz not null default now()
);
