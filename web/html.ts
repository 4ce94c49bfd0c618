import { html } from "hono/html";

/** Markup. The template `html` escapes every value that isn't markup itself. */
export type Html = ReturnType<typeof html>;

/** A page's own part, between the header and the footer. */
export type Page = {
  title: string;
  /** Description of the page for search engines. */
  about?: string;
  body: Html;
  /** Something wasn't known in time: the page asks for it again by itself. */
  isUnfinished?: boolean;
  /** The page isn't reloaded by itself, because the answer to a form can't be asked for again. */
  isStill?: boolean;
};
