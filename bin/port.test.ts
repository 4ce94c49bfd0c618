import { expect, test } from "vitest";
import { listenProblem, requireFreePort } from "./port.ts";

test("what keeps us from listening names the variable to change", async () => {
  const address = { host: "127.0.0.1", port: 80 };
  const failure = (code: string) => Object.assign(new Error(`listen ${code}`), { code });
  expect(listenProblem(failure("EACCES"), address)).toBe(
    "PORT 80 may not be used by this account. Expected another one.",
  );
  expect(listenProblem(failure("EADDRINUSE"), address)).toBe("PORT 80 is taken on 127.0.0.1. Expected a free one.");
  await expect(requireFreePort({ host: "192.0.2.1", port: 3000 })).rejects.toThrow(
    /^HOST 192\.0\.2\.1 can't be listened on: .+\. Expected an address of this machine\.$/,
  );
});
