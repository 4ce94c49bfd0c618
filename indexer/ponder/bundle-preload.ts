/** Runs in a process before what takes packages from the bundle. */
import { takeFromBundle } from "./bundle.ts";

takeFromBundle("viem", "zod");
