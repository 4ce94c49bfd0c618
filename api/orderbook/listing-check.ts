import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { NATIVE_TYPE, type OrderParameters, type Terms } from "../../abis/seaport-order.ts";
import { invalid } from "../http/errors.ts";
import type { OrderChain } from "./order-chain.ts";
import { notKnown, type Place, requirePlace } from "./order-check.ts";

/**
 * Stores what a contract says of an approval that no log tells, so that the order is shown at once. `mover`: see
 * `moverOf`.
 *
 * @throws HttpError 400 where the maker doesn't hold the units that are left to sell, or the exchange may not move them
 */
export async function requireToken(
  sql: Sql,
  chain: OrderChain,
  { chainId, terms, left, mover, ...place }: Place & { chainId: number; terms: Terms; left: bigint; mover: Hex },
): Promise<void> {
  const token = await findHeld(sql, { terms, mover });
  if (!token) throw notKnown(terms);
  if (BigInt(token.held) < left)
    throw invalid(`The offerer holds ${token.held} of the token. Expected at least ${left}.`);
  const isApproved = await requirePlace(
    chain,
    { terms, ...place },
    token.is_approved === true ||
      chain.isApproved({
        contract: terms.contract_address,
        tokenId: terms.token_id!,
        owner: terms.maker,
        operator: mover,
      }),
  );
  if (isApproved === false || (isApproved === undefined && token.is_approved === false))
    throw invalid(`The token is not approved for ${mover}, through which the order would be filled.`);
  // The block is that of before the contract was asked, so that whatever is indexed later counts as newer.
  if (isApproved === true && token.is_approved !== true)
    await storeApproval(sql, { chainId, terms, mover, block: token.head_block ?? "0" });
}

/** @throws HttpError 400 where somebody whom a listing pays in the chain's own currency doesn't take it */
export async function requireRecipients(
  chain: OrderChain,
  { order: { consideration }, exchange }: { order: OrderParameters; exchange: Hex },
): Promise<void> {
  const amounts = new Map<Hex, bigint>();
  for (const { itemType, recipient, startAmount, endAmount } of consideration) {
    // A payment that changes may begin with nothing.
    const amount = startAmount || endAmount;
    if (itemType === NATIVE_TYPE && amount > 0n) amounts.set(recipient, amount);
  }
  await Promise.all(
    [...amounts].map(async ([recipient, amount]) => {
      if ((await chain.takesNative(recipient, { exchange, amount })) !== false) return;
      throw invalid(`The recipient ${recipient} doesn't take the chain's own currency. Expected one that does.`);
    }),
  );
}

/** How much of a listing's token its maker holds, and what logs say of `mover`: null where none says anything. */
async function findHeld(
  sql: Sql,
  { terms, mover }: { terms: Terms; mover: Hex },
): Promise<{ head_block: string | null; held: string; is_approved: boolean | null } | undefined> {
  const owner = toBytes(terms.maker);
  const [token] = await sql<{ head_block: string | null; held: string; is_approved: boolean | null }[]>`
    select
      (
        select network.head_block
        from network
        where network.name = 'mainnet'
      ) as head_block,
      case
        when token.standard <> 'ERC1155' then case when token.owner = ${owner} then 1 else 0 end
        else coalesce(
          (
            select ownership.balance
            from ownership
            where
              ownership.contract_address = token.contract_address
              and ownership.token_id = token.token_id
              and ownership.owner = ${owner}
          ),
          0
        )
      end as held,
      (
        select approval.is_approved
        from approval
        where
          approval.contract_address = token.contract_address
          and approval.owner = ${owner}
          and approval.operator = ${toBytes(mover)}
        order by
          approval.block_number desc,
          approval.log_index desc
        limit 1
      ) as is_approved
    from token
    where
      token.contract_address = ${toBytes(terms.contract_address)}
      and token.token_id = ${String(terms.token_id)}
  `;
  return token;
}

/** As the worker does, which may have been told otherwise before. */
async function storeApproval(
  sql: Sql,
  { chainId, terms, mover, block }: { chainId: number; terms: Terms; mover: Hex; block: string },
): Promise<void> {
  await sql`
    insert into offchain.listing_approval ${sql({
      chain_id: chainId,
      contract_address: toBytes(terms.contract_address),
      token_id: String(terms.token_id),
      owner: toBytes(terms.maker),
      operator: toBytes(mover),
      is_approved: true,
      block_number: block,
    })}
    on conflict (chain_id, contract_address, token_id, owner, operator) do update
    set
      is_approved = excluded.is_approved,
      block_number = excluded.block_number,
      checked_at = now()
  `;
}
