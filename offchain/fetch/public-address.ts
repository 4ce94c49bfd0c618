import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * IPv4 ranges that aren't the public internet. Source: IANA's registry of special-purpose addresses; multicast and
 * class E.
 */
const SPECIAL_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/**
 * Cloud metadata services at addresses that are public in IANA's registry: Azure's. All others are within the ranges
 * above or outside of public IPv6 (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254 …). Source: Azure,
 * "What is IP address 168.63.129.16?".
 */
const CLOUD_V4 = ["168.63.129.16/32"];

/** Public IPv6 is 2000::/3. Not public within it: tunnels to IPv4 addresses, documentation, and other special uses. */
const PUBLIC_V6 = "2000::/3";
const SPECIAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

const specialV4 = toBlockList([...SPECIAL_V4, ...CLOUD_V4], "ipv4");
const publicV6 = toBlockList([PUBLIC_V6], "ipv6");
const specialV6 = toBlockList(SPECIAL_V6, "ipv6");

/**
 * Whether text is an IP address of the public internet. IPv4 within IPv6 is never (mapped, ::ffff:…, NAT64 and others),
 * because nothing public needs it.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialV4.check(address, "ipv4");
  if (!isIPv6(address)) return false;
  return publicV6.check(address, "ipv6") && !specialV6.check(address, "ipv6");
}

function toBlockList(ranges: string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
