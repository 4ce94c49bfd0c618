import { describe, expect, test } from "vitest";
import { clientNetwork, createClientAddress } from "./client-address.ts";

describe("who a request is from", () => {
  const addressOf = createClientAddress({ trustedProxies: ["10.0.0.0/8", "192.0.2.1", "fd00::/8"] });

  test.each([
    ["a stranger, whatever it says", "203.0.113.9", "198.51.100.2", "203.0.113.9"],
    ["a proxy itself", "10.0.0.1", undefined, "10.0.0.1"],
    ["a proxy itself, which says nothing", "10.0.0.1", "", "10.0.0.1"],
    ["whom a proxy names", "192.0.2.1", "198.51.100.2", "198.51.100.2"],
    ["whom one beside the named proxy names", "192.0.2.2", "198.51.100.2", "192.0.2.2"],
    ["whom an IPv6 proxy names", "fd00::1", "2001:db8::1", "2001:db8::1"],
    ["whom a proxy names on a socket for both families", "::ffff:10.0.0.1", "198.51.100.2", "198.51.100.2"],
    ["the last that no proxy vouches for", "10.0.0.1", "203.0.113.7, 198.51.100.2, 10.1.1.1", "198.51.100.2"],
    ["the first of proxies only", "10.0.0.1", "10.0.0.2,10.0.0.3", "10.0.0.2"],
    ["the proxy that names no address", "10.0.0.1", "198.51.100.2, unknown", "10.0.0.1"],
    ["an address with a port", "10.0.0.1", "198.51.100.2:5678", "198.51.100.2"],
    ["an IPv6 address with a port", "10.0.0.1", "[2001:db8::1]:5678", "2001:db8::1"],
    ["an IPv6 address in brackets", "10.0.0.1", "[2001:db8::1]", "2001:db8::1"],
    ["IPv4 written as IPv6", "10.0.0.1", "203.0.113.7, ::ffff:198.51.100.2", "198.51.100.2"],
    ["somebody on the same link", "fe80::1%eth0", "198.51.100.2", "fe80::1%eth0"],
    ["nobody known", undefined, "198.51.100.2", "unknown"],
  ])("%s", (_, socketAddress, forwardedFor, client) => {
    expect(addressOf(socketAddress, forwardedFor)).toBe(client);
  });

  test("without a trusted proxy it is the socket's address", () => {
    const direct = createClientAddress({ trustedProxies: [] });
    expect(direct("::ffff:203.0.113.9", "198.51.100.2")).toBe("203.0.113.9");
  });
});

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:1:02::9", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["2001:db8::2:3:4:5:6", "2001:db8:0:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%a:b:c:d:e:f:0", "fe80:0:0:0::/64"],
  ["unknown", "unknown"],
])("%s is limited as %s", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
