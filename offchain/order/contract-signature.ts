import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../bytea.ts";
import type { ReadCalls } from "../chain/call.ts";
import { readSignature, readValidation, signatureCall, validationCall } from "../chain/signature.ts";

/**
 * Checks whether contract wallets still confirm that they signed their orders. A wallet whose owners change, or that is
 * locked, disowns earlier signatures, and no log says so. An order that was put on the chain stands all the same: our logs
 * tell of that, but for Seaport 1.1 and blocks that aren't indexed.
 */

/** How many orders are checked in one step. */
const STEP = 500;

type Order = { exchange: Hex; order_hash: Hex; end_time: string; signer: Hex; digest: Hex; signature: Hex };
/** The last order that was checked. */
export type SignaturePlace = Pick<Order, "exchange" | "order_hash" | "end_time">;

/**
 * Checks some orders after `after`, those that end first before others. Returns the last of them, or undefined where
 * there are no more: then the next call begins anew.
 */
export async function readContractSignatures(
  sql: Sql,
  { chainId, readCalls, after }: { chainId: number; readCalls: ReadCalls; after: SignaturePlace | undefined },
): Promise<SignaturePlace | undefined> {
  const orders = await listOrders(sql, { chainId, after });
  if (orders.length === 0) return undefined;
  const known = await askWallets(readCalls, orders);
  // Only changed rows are written, because most wallets say what they said before.
  await sql`
    update offchain.signed_order
    set is_disowned = known.is_disowned::boolean
    from unnest(
      ${known.map(({ exchange }) => exchange.slice(2))}::text[],
      ${known.map(({ order_hash }) => order_hash.slice(2))}::text[],
      ${known.map(({ signature }) => signature.slice(2))}::text[],
      ${known.map(({ isDisowned }) => String(isDisowned))}::text[]
    ) as known (exchange, order_hash, signature, is_disowned)
    where
      signed_order.chain_id = ${chainId}
      and signed_order.exchange_address = decode(known.exchange, 'hex')
      and signed_order.order_hash = decode(known.order_hash, 'hex')
      -- Its maker may have sent another one meanwhile.
      and signed_order.signature = decode(known.signature, 'hex')
      and signed_order.is_disowned <> known.is_disowned::boolean
  `;
  return orders.length < STEP ? undefined : orders.at(-1);
}

/** What wallets say of their orders. Orders of which the node didn't tell are left out: the last answer stands. */
async function askWallets(readCalls: ReadCalls, orders: Order[]): Promise<(Order & { isDisowned: boolean })[]> {
  const told = (await readCalls(orders.map(signatureCall))).map(readSignature);
  // Some tell the exchange alone. Each of these takes a call of its own, so that the others are asked together first.
  const denied = orders.filter((_, index) => told[index] === false);
  const answers = await readCalls([
    ...denied.map((order) => ({ ...signatureCall(order), from: order.exchange })),
    ...denied.map(validationCall),
  ]);
  const toldExchange = new Map(
    denied.map((order, index) => {
      const said = new Set([readSignature(answers[index]!), readValidation(answers[denied.length + index]!)]);
      return [order, said.has(true) || (said.has(undefined) ? undefined : false)];
    }),
  );
  return orders.flatMap((order, index) => {
    const isSigned = told[index] || toldExchange.get(order);
    return isSigned === undefined ? [] : [{ ...order, isDisowned: !isSigned }];
  });
}

/** Orders that haven't ended, also those that haven't begun. */
async function listOrders(
  sql: Sql,
  { chainId, after }: { chainId: number; after: SignaturePlace | undefined },
): Promise<Order[]> {
  const place = after
    ? sql`(${after.end_time}::bigint, ${toBytes(after.exchange)}, ${toBytes(after.order_hash)})`
    : sql`(extract(epoch from now())::bigint, ''::bytea, ''::bytea)`;
  return sql<Order[]>`
    select
      '0x' || encode(exchange_address, 'hex') as exchange,
      '0x' || encode(order_hash, 'hex') as order_hash,
      end_time::text as end_time,
      '0x' || encode(maker, 'hex') as signer,
      '0x' || encode(contract_digest, 'hex') as digest,
      '0x' || encode(signature, 'hex') as signature
    from offchain.signed_order
    where
      chain_id = ${chainId}
      and contract_digest is not null
      and (end_time, exchange_address, order_hash) > ${place}
    order by
      signed_order.end_time,
      exchange_address,
      signed_order.order_hash
    limit ${STEP}
  `;
}
