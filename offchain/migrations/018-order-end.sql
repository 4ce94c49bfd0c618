-- Orders that are over stay for the histories of tokens, and may be most of them. So what looks for orders that aren't
-- over finds these alone, and what looks for the newest ones reads no others. The last one made is the one that open
-- orders are found by: of two that seem the same to the planner it takes the younger.
drop index signed_order_token;
drop index signed_order_maker;
drop index signed_order_floor;
create index signed_order_currency
  on signed_order (chain_id, contract_address, token_id, side, currency_address, placed_timestamp);
create index signed_order_newest on signed_order (chain_id, contract_address, token_id, side, placed_timestamp);
create index signed_order_maker on signed_order (chain_id, maker, side, contract_address, token_id, end_time);
create index signed_order_floor on signed_order (chain_id, contract_address, unit_price, end_time)
  where side = 'listing';
create index signed_order_token on signed_order (chain_id, contract_address, token_id, side, end_time);
