import { NOW } from "./trade-order.ts";

/** Payments of an order whose amounts change with time. At this second, each payment is `product` / `duration`. */
const paymentsNow = (order: string) => `
  (
    select
      (amount ->> 0)::numeric * (${order}.end_time - ${NOW})
        + (amount ->> 1)::numeric * (${NOW} - ${order}.start_time) as product,
      (${order}.end_time - ${order}.start_time)::numeric as duration
    from jsonb_array_elements(${order}.amounts::jsonb) as amount
  )
`;

/** The sum of `paymentsNow`, each divided by `divisor` and rounded by itself: up in a listing, down in an offer. */
const sumNow = (order: string, divisor: string) => `
  (
    select
      sum(
        case
          when ${order}.side = 'offer' then div(part.product, ${divisor})
          when part.product = 0 then 0
          else div(part.product - 1, ${divisor}) + 1
        end
      )
    from ${paymentsNow(order)} as part
  )
`;

/** The total of an order at this second. */
export const totalNow = (order: string) => `
  (case
    when ${order}.amounts is null then ${order}.start_amount
    else ${sumNow(order, "part.duration")}
  end)
`;

/**
 * What an offer pays at this second for the units that are left. Each payment is rounded by itself, not the total. Null
 * while one of them comes to nothing: Seaport doesn't fill such an offer by itself.
 */
export const leftNow = (offer: string) => `
  (case
    when ${offer}.amounts is null
      then nullif(div(${offer}.start_amount * (${offer}.quantity - ${offer}.filled), ${offer}.quantity), 0)
    else (
      select case when min(payment.amount) > 0 then sum(payment.amount) end
      from (
        select
          div(part.product * (${offer}.quantity - ${offer}.filled), part.duration * ${offer}.quantity) as amount
        from ${paymentsNow(offer)} as part
      ) as payment
    )
  end)
`;

/** An order's start or end amount for one unit, rounded up. An order of one unit needs no division. */
export const forOne = (order: string, column: "start_amount" | "end_amount") => `
  (case
    when ${order}.quantity = 1 then ${order}.${column}
    else div(${order}.${column} + ${order}.quantity - 1, ${order}.quantity)
  end)
`;

/** What a buyer pays now for one unit. Of an amount that changes, Seaport takes the unit's part before it rounds. */
export const priceNow = (order: string) => `
  (case
    when ${order}.amounts is null then ${forOne(order, "start_amount")}
    else ${sumNow(order, `(part.duration * ${order}.quantity)`)}
  end)
`;
