import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";

/** Takes two seconds to end in order. */
const PROGRAM = `
  import { stopSignal } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
  const timer = setInterval(() => {}, 1000);
  stopSignal().addEventListener("abort", () => setTimeout(() => clearInterval(timer), 2000));
  console.log("ready");
`;

async function endedAfter(...pauses: number[]): Promise<unknown> {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", PROGRAM], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  for (const pause of pauses) {
    await sleep(pause);
    child.kill("SIGTERM");
  }
  const [code] = await ended;
  return code;
}

test("a request to end that comes as two signals is one, and a second request ends at once", async () => {
  expect(await Promise.all([endedAfter(0), endedAfter(0, 50), endedAfter(0, 1200)])).toEqual([0, 0, 130]);
});

/** Says something every 20 ms for a while. */
const TALKER = `
  import { outliveReader } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
  outliveReader();
  const timer = setInterval(() => console.log("something"), 20);
  setTimeout(() => clearInterval(timer), 500);
`;

test("a part goes on though nobody reads what it says", async () => {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", TALKER], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await ended).toEqual([0, null]);
});

/** Ends with what a statement throws whose connection is gone. */
const LOSER = `
  import { exitWith } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
  const [message, code] = process.argv.slice(1);
  exitWith(Object.assign(new Error(message), { code }));
`;

test.for([
  ["write EPIPE", "EPIPE"],
  ["read ECONNRESET", "ECONNRESET"],
  ["connect ECONNREFUSED 127.0.0.1:5432", "ECONNREFUSED"],
] as const)("a database that is lost is told in one line: %s", async ([message, code]) => {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", LOSER, message, code]);
  const ended = once(child, "close");
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  expect((await ended)[0]).toBe(1);
  expect(output).toBe(`The database was lost (${message}). Started again, all goes on where it was.\n`);
});
