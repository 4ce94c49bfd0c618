import { readConfig } from "../config.ts";

/** What an operator who sets nothing has, as the documentation tells it. */
export const DEFAULTS = readConfig({});
