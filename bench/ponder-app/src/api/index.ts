import { Hono } from "hono";

/** Ponder wants a server in this place. */
export default new Hono();
