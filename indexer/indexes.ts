/**
 * The indexes that the API's queries need beside the primary keys, one for each order in which it pages.
 *
 * They are ours and not in `ponder.schema.ts`, because Ponder drops the ones declared there at every restart.
 */
const INDEXES = {
  contract_first_seen: "contract (block_number, log_index, contract_address)",
  token_owner: "token (owner, contract_address, token_id) where owner is not null",
  ownership_owner: "ownership (owner, contract_address, token_id) where balance > 0",
  ownership_latest:
    "ownership (contract_address, token_id, received_block_number, received_log_index, received_batch_index) where balance > 0",
  token_event_contract: "token_event (contract_address, block_number, log_index, batch_index)",
  trade_order_token: "trade_order (contract_address, token_id, side) where is_open",
  trade_order_floor: "trade_order (contract_address, unit_price) where is_open and side = 'listing'",
  trade_order_maker: "trade_order (maker, contract_address, token_id) where is_open and side = 'listing'",
  trade_order_history: "trade_order (contract_address, token_id, placed_timestamp)",
  token_event_sale:
    "token_event (contract_address, token_id, block_number, log_index, batch_index) where event_type = 'sale'",
  approval_latest: "approval (contract_address, owner, operator, block_number, log_index)",
  token_event_token: "token_event (contract_address, token_id, block_number, log_index, batch_index)",
};

/** The missing indexes of one deployment, by table. `concurrently` is to be run outside a transaction. */
export function indexStatements(schemaName: string): { table: string; plain: string; concurrently: string }[] {
  return Object.entries(INDEXES).map(([name, columns]) => {
    const create = (how: string) => `create index ${how} if not exists ${name} on "${schemaName}".${columns}`;
    return { table: columns.slice(0, columns.indexOf(" ")), plain: create(""), concurrently: create("concurrently") };
  });
}
