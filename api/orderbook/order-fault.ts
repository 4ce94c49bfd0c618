import { NO_END, type OrderFault } from "../../abis/seaport-order.ts";

/** What is wrong with a sent order, and what is expected instead. */
export function describeFault(fault: OrderFault): string {
  switch (fault.kind) {
    case "several units":
      return `The order is for ${fault.units} units of one ERC-721 token. Expected 1.`;
    case "units not one by one":
      return `The order is for ${fault.units} ERC-721 tokens at once, and its orderType is ${fault.orderType}. Expected 1 or 3, which may be filled one by one.`;
    case "units not divisible":
      return `The order is for ${fault.units} ERC-721 tokens, one by one. Expected amounts that are whole multiples of ${fault.units}.`;
    case "token to nobody":
      return "The order asks for a token to go to the zero address, to which none can be sent. Expected another recipient.";
    case "native offer":
      return "The offer is in the chain's own currency, which nobody can take. Expected a token, as wrapped ether.";
    case "money with id":
      return `The identifierOrCriteria of an item of itemType ${fault.itemType} is ${fault.id}. Expected 0: it is money.`;
    case "native with token":
      return `The token of an item of itemType 0 is ${fault.token}. Expected the zero address, which is the chain's own currency.`;
    case "currency without token":
      return "The token of an item of itemType 1 is the zero address. Expected a token, or itemType 0.";
    case "currency of Blur":
      return "The token of an item of itemType 1 is Blur's pool, out of which Blur alone can pay. Expected another token, as wrapped ether, or itemType 0.";
    case "change too long":
      return `An amount of the order changes over ${fault.seconds} seconds, which is too long for Seaport to work it out. Expected an earlier endTime, or an endAmount that is the startAmount.`;
    case "change too late":
      return `An amount of the order changes until second ${fault.endTime}, which is later than prices are told for. Expected an endTime of ${NO_END} at most, or an endAmount that is the startAmount.`;
    case "no zone":
      return `The order's orderType is ${fault.orderType} and its zone the zero address, which lets nobody fill it. Expected a zone, or orderType ${fault.orderType - 2}.`;
  }
}
