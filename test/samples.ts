// What these rules want of tests is not for what makes them.
/* oxlint-disable vitest/no-conditional-tests, vitest/valid-title, vitest/valid-describe-callback, vitest/no-disabled-tests, vitest/expect-expect */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";

/** Real documents and hostile inputs that lie beside the repository where they are at hand. */
const SAMPLES = join(import.meta.dirname, "../../shared/samples");

/** Tests over the samples. Where there are none, one that is skipped says so. */
export function describeSamples(name: string, define: () => void): void {
  if (existsSync(SAMPLES)) describe(name, define);
  else describe.skip(name, () => test("the samples are not beside the repository", () => {}));
}

/** The path of a sample, by its path among them. */
export function samplePath(path: string): string {
  return join(SAMPLES, path);
}

/** A sample as text. */
export function readSample(path: string): string {
  return readFileSync(samplePath(path), "utf8");
}

/** Lines of JSON. */
export function readSampleLines<T>(path: string): T[] {
  return readSample(path)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as T);
}
