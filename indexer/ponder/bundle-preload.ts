/** Runs in a process before what takes packages from the bundle. */
import { enableCompileCache } from "node:module";
import { COMPILED } from "../child-process.ts";
import { takeFromBundle } from "./bundle.ts";

// In one that we start its environment says so already.
enableCompileCache(COMPILED);
takeFromBundle();
