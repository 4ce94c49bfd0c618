import { Hono } from "hono";

/** Ponder wants a server in this place. Ours is a process of its own: `api/`. */
export default new Hono();
