import { expect, test } from "vitest";
import { answerTo, startOrigin } from "./server.ts";

const originUrl = "http://127.0.0.1:1234";

test.each([
  ["/moths/7.png", "image/png", "89504e47"],
  ["/moths/7.gif", "image/gif", "47494638"],
  ["/moths/7.wav", "audio/wav", "52494646"],
])("%s is %s from its first bytes on, the same each time", (path, type, signature) => {
  const answer = answerTo(path, { originUrl });
  expect(answer?.type).toBe(type);
  expect(
    Buffer.from(answer?.body ?? "")
      .subarray(0, 4)
      .toString("hex"),
  ).toBe(signature);
  expect(answerTo(path, { originUrl })).toEqual(answer);
});

test("a moth's document names its media", () => {
  expect(JSON.parse(String(answerTo("/moths/1.json", { originUrl })?.body))).toMatchObject({
    name: expect.stringMatching(/#1$/),
    image: "http://127.0.0.1:1234/moths/1.png",
    animation_url: "http://127.0.0.1:1234/moths/1.gif",
    background_color: "F4F1DE",
  });
});

test("a seed's document is found by 64 hex digits and leaves {id} to the client", () => {
  const id = 3n.toString(16).padStart(64, "0");
  expect(JSON.parse(String(answerTo(`/meadow/${id}.json`, { originUrl })?.body))).toMatchObject({
    name: "Cornflower Seeds",
    image: "http://127.0.0.1:1234/meadow/{id}.svg",
  });
  expect(answerTo(`/meadow/${id}.svg`, { originUrl })?.body).toContain("<title>Cornflower</title>");
});

test("there is nothing at other paths", () => {
  const paths = ["/", "/moths/", "/moths/x.json", "/meadow/3.json", "/moths/../server.ts"];
  expect(paths.filter((path) => answerTo(path, { originUrl }))).toEqual([]);
});

test("the server answers with the type and 404 as HTTP has them", async () => {
  const origin = await startOrigin({ port: 0 });
  const found = await fetch(`http://${origin.host}/moths/5.png`);
  expect([found.status, found.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect((await fetch(`http://${origin.host}/favicon.ico`)).status).toBe(404);
  await origin.stop();
  await expect(fetch(`http://${origin.host}/moths/5.png`)).rejects.toThrow("fetch failed");
});
