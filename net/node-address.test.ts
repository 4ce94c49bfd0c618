import { expect, test } from "vitest";
import { addressOf } from "./node-address.ts";

test("user and password of a URL are its header, whatever they are", () => {
  const headerOf = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  expect(addressOf("http://u:p%40ss@host/path")).toEqual({
    url: "http://host/path",
    authorization: headerOf("u:p@ss"),
  });
  expect(addressOf("http://u:50%zz@host")).toEqual({ url: "http://host/", authorization: headerOf("u:50%zz") });
  expect(addressOf("http://host/a?b")).toEqual({ url: "http://host/a?b", authorization: undefined });
});
