import { html } from "hono/html";

/** Markup. Whatever is put into the template `html` is escaped unless it is markup itself. */
export type Html = ReturnType<typeof html>;

/** A page's own part: what is between the header and the footer. */
export type Page = {
  title: string;
  /** What it is about, for those who list pages. */
  about?: string;
  body: Html;
  /** Not everything was known in time: the page asks again by itself. */
  isUnfinished?: boolean;
  /** It stays as it is: what a form answered can't be asked for again. */
  isStill?: boolean;
};
