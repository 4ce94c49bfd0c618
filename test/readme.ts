import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { WAIT_TIMEOUT_MS } from "./indexer.ts";

/** A request of the README and the answer that stands below it. */
type Shown = { command: string; printed: string };

/** Where a part of an answer differs each time. */
const ANYTHING = "…";

const readme = () => readFile(join(import.meta.dirname, "../README.md"), "utf8");

/** The requests of the README in their order, the variables that they use, and the program with the client. */
export async function readTour(): Promise<{ variables: string; tour: Shown[]; program: string }> {
  const [, section = ""] = /## First requests\n(.*?)\n## /s.exec(await readme()) ?? [];
  const [, variables = ""] = /```sh\n(.*?)```/s.exec(section) ?? [];
  const [, program = ""] = /```ts\n(.*?)```/s.exec(section) ?? [];
  const blocks = [...section.matchAll(/```console\n(.*?)```/gs)].map(([, block = ""]) => block);
  const tour = blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = "", ...lines] = text.trim().split("\n");
        return { command, printed: lines.map((line) => line.trim()).join("") };
      }),
  );
  return { variables, tour, program };
}

/**
 * What a request prints, as soon as that is what the README says: names and pictures come moments after the tokens.
 *
 * @throws Error with both where it never is
 */
export async function runShown(
  { command, printed }: Shown,
  { variables, cwd }: { variables: string; cwd: string },
): Promise<string> {
  const pattern = new RegExp(
    `^${printed
      .split(ANYTHING)
      .map((text) => RegExp.escape(text))
      .join("[^]*?")}$`,
  );
  let answer = "";
  for (const deadline = Date.now() + WAIT_TIMEOUT_MS; Date.now() < deadline; await sleep(500)) {
    const { stdout } = await promisify(execFile)("bash", ["-euc", `${variables}\n${command}`], { cwd });
    answer = stdout.trim();
    if (pattern.test(answer)) return answer;
  }
  throw new Error(`${command}\nprints\n${answer}\nwhere the README says\n${printed}`);
}
