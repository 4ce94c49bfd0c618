import { BlockList, isIP } from "node:net";

/** Tells the client's address: that of the socket, or what trusted proxies have forwarded. */
type ClientAddressOf = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/** Tells whether a socket's address belongs to a trusted proxy. `trustedProxies`: addresses and CIDR ranges. */
export function createIsProxy({ trustedProxies }: { trustedProxies: string[] }): (address: string) => boolean {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = "", prefix] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  return (socketAddress) => {
    // A link-local address has its interface behind a %, which is no part of the address.
    const [address = ""] = withoutMapping(socketAddress).split("%");
    return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  };
}

/** Tells client addresses. A forwarded address counts only from trusted proxies, because anyone can send the header. */
export function createClientAddress(options: { trustedProxies: string[] }): ClientAddressOf {
  const isTrusted = createIsProxy(options);
  return (socketAddress, forwardedFor) => {
    let client = withoutMapping(socketAddress ?? "unknown");
    if (forwardedFor === undefined) return client;
    // The nearest proxy wrote the last entry. Each trusted proxy vouches for the entry before its own.
    const hops = forwardedFor.split(",").map((hop) => withoutMapping(withoutPort(hop.trim())));
    while (isTrusted(client)) {
      const hop = hops.pop();
      if (hop === undefined || isIP(hop) === 0) break;
      client = hop;
    }
    return client;
  };
}

/** The part of an address that counts as one client: all of IPv4, the /64 network of IPv6, which one customer gets. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail = ""] = (address.split("%")[0] ?? "").split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

/** The address without `::ffff:`, which sockets for both families put before IPv4 addresses. */
export function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** An address without its port: some proxies write 1.2.3.4:5678 or [::1]:5678. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](:\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
}
