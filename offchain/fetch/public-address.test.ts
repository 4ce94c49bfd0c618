import { expect, test } from "vitest";
import { describeSamples, readSampleLines } from "../../test/samples.ts";
import { isPublicAddress } from "./public-address.ts";

/** The address to which a connection to this host would go, in whatever notation it is written. */
function hostOf(notation: string): string | undefined {
  const url = `http://${notation.includes(":") && !notation.startsWith("[") ? `[${notation}]` : notation}/`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : undefined;
}

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "172.15.255.255",
  "172.32.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "168.63.129.15",
  "168.63.129.17",
  "2606:4700::1111",
  "2a00:1450:4001::200e",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  "127.0.0.1",
  "0.0.0.0",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.100.100.200",
  "168.63.129.16",
  "::ffff:168.63.129.16",
  "169.254.170.2",
  "192.0.0.192",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "64:ff9b::7f00:1",
  "64:ff9b:1::1",
  "fe80::1",
  "fc00::1",
  "fd00:ec2::254",
  "ff02::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "2001::1",
  "::127.0.0.1",
  "not an address",
  "",
  "1.2.3",
  "localhost",
])("%s is not", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "0x7f.1",
  "0",
  "017700000001",
  "127.0.0.1.",
  "①②⑦.⓪.⓪.①",
  "[::ffff:7f00:1]",
  "3232235777",
])("http://%s is not, in any notation", (notation) => {
  const host = hostOf(notation);
  expect(host).toBeDefined();
  expect(isPublicAddress(host!)).toBe(false);
});

describeSamples("samples", () => {
  test.each(
    readSampleLines<{ ip: string; author_says: string }>("c_bad_input/ssrf_ip_notations.ndjson").filter(
      ({ author_says }) => author_says === "private",
    ),
  )("$ip", ({ ip }) => {
    const host = hostOf(ip);
    expect(isPublicAddress(ip)).toBe(false);
    expect(isPublicAddress(host ?? "")).toBe(false);
  });

  test("what is said to be public is, but for forms that nothing public needs", () => {
    const refused = readSampleLines<{ ip: string; author_says: string }>("c_bad_input/ssrf_ip_notations.ndjson")
      .filter(({ author_says, ip }) => author_says !== "private" && !isPublicAddress(ip))
      .map(({ ip }) => ip);
    expect(refused).toMatchInlineSnapshot(`
      [
        "::1fff:0:10.0.0.0",
        "99::",
        "101::ffff:ffff:ffff:ffff",
        "2001:10::",
      ]
    `);
  });
});
