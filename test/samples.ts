import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";

/** Real documents and hostile inputs that lie beside the repository where they are at hand. */
const SAMPLES = join(import.meta.dirname, "../../shared/samples");

/** Tests over the samples; skipped, and said so, where there are none. */
export const describeSamples = existsSync(SAMPLES) ? describe : (describe.skip as typeof describe);

export function samplePath(path: string): string {
  return join(SAMPLES, path);
}

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
