import { BlockList, isIP } from "node:net";

/** Tells who a request is from: the socket's address, or what trusted proxies say of it. */
type ClientAddressOf = (socketAddress: string | undefined, forwardedFor: string | undefined) => string;

/** Tells whether a socket's address is that of a trusted proxy: `trustedProxies` are addresses and CIDR ranges. */
export function createIsProxy({ trustedProxies }: { trustedProxies: string[] }): (address: string) => boolean {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = "", prefix] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  return (socketAddress) => {
    // A socket of a link's own network says of which link, which is no part of the address.
    const [address = ""] = withoutMapping(socketAddress).split("%");
    return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  };
}

/** Only what trusted proxies forward counts: anyone can send the header. */
export function createClientAddress(options: { trustedProxies: string[] }): ClientAddressOf {
  const isTrusted = createIsProxy(options);
  return (socketAddress, forwardedFor) => {
    let client = withoutMapping(socketAddress ?? "unknown");
    if (forwardedFor === undefined) return client;
    // The last entry was written by the proxy nearest to us; each trusted one vouches for the entry before.
    const hops = forwardedFor.split(",").map((hop) => withoutMapping(withoutPort(hop.trim())));
    while (isTrusted(client)) {
      const hop = hops.pop();
      if (hop === undefined || isIP(hop) === 0) break;
      client = hop;
    }
    return client;
  };
}

/** What is limited as one client: an IPv4 address, or the /64 network that a provider hands out under IPv6. */
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

/** A socket that takes both families shows IPv4 as ::ffff:1.2.3.4. */
export function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Some proxies write 1.2.3.4:5678 or [::1]:5678. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](:\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
}
