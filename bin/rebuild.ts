/** `npm run rebuild [-- --refetch]`: builds all on-chain tables anew beside the ones that readers see. */
import { runBundled } from "./bundled.ts";

await runBundled(() => import("./rebuild-main.ts"));
