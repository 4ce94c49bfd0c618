/** `npm run indexer`: follows the configured networks into the database of DATABASE_URL. */
import { runBundled } from "./bundled.ts";

await runBundled(() => import("./indexer-main.ts"));
