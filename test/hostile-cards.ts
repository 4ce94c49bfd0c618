import { existsSync } from "node:fs";
import { readSampleLines, samplePath } from "./samples.ts";

/** Documents of tokens that try to run something, or to have something fetched, where they are shown. */

/** Texts for every place that shows a text. `canary` is the URL of a server that must never be asked. */
export function hostileTexts(canary: string): string[] {
  return [
    `<script>fetch('${canary}/script')</script>`,
    `"><img src=${canary}/img onerror=fetch('${canary}/onerror')>`,
    `' autofocus onfocus=fetch('${canary}/focus') x='`,
    `javascript:fetch('${canary}/javascript')`,
    `data:text/html,<script>fetch('${canary}/data')</script>`,
    `</title></textarea></pre><script src=${canary}/src.js></script>`,
    `<iframe src="javascript:fetch('${canary}/frame')"></iframe>`,
    `<style>@import '${canary}/style.css';</style><link rel=stylesheet href=${canary}/link.css>`,
    `<meta http-equiv=refresh content="0;url=${canary}/meta"><base href="${canary}/">`,
    `<object data=${canary}/object></object><embed src=${canary}/embed>`,
    `<svg><script>fetch('${canary}/svg')</script></svg>`,
    "${7*7}{{7*7}}<%= 7*7 %>",
    "\u202Eexe.gnp\u2066\u0000\uFFFF\uD800",
    `Z${"\u0300".repeat(500)}`,
    ...samples<{ payload: string }>("dompurify_payloads.ndjson").map(({ payload }) => payload),
    ...samples<{ s: string }>("naughty_strings.ndjson").map(({ s }) => s),
  ];
}

/** Drawings. */
function hostileDrawings(canary: string): string[] {
  const attributes = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"';
  return [
    `<svg ${attributes} onload="fetch('${canary}/onload')"><script>fetch('${canary}/script')</script><rect width="9" height="9"/></svg>`,
    `<svg ${attributes}><image href="${canary}/image"/><use xlink:href="${canary}/use#x"/><style>@import "${canary}/style"; rect { fill: url(${canary}/fill) }</style><rect width="9" height="9"/></svg>`,
    `<svg ${attributes}><foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${canary}/frame"/></foreignObject><a href="javascript:fetch('${canary}/link')"><rect width="9" height="9"/></a></svg>`,
    `<svg ${attributes}><foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml" background="${canary}/background" onload="fetch('${canary}/body')"><style>@import "${canary}/import"; p { background: url(${canary}/paragraph) }</style><p style="background:u\\72l(${canary}/escape)"><img src="${canary}/html-image" srcset="${canary}/set 1x" onerror="fetch('${canary}/error')"/><link rel="stylesheet" href="${canary}/html-link"/><script>fetch('${canary}/html-script')</script></p></body></foreignObject></svg>`,
    `<?xml version="1.0"?><?xml-stylesheet href="${canary}/sheet"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${canary}/entity">]><svg ${attributes}><text>&x;</text><rect width="9" height="9"/></svg>`,
    ...samples<{ payload: string }>("dompurify_payloads.ndjson").map(
      ({ payload }) => `<svg ${attributes}><rect width="9" height="9"/>${payload}</svg>`,
    ),
    ...samples<{ svg: string }>("hostile_svgs.ndjson").map(({ svg }) => svg),
  ];
}

/** The sample's payloads are spread over so many pages: what a contract keeps of a token is below 24 kB. */
const PAGES = 4;

/** Pages, as animations. */
function hostilePages(canary: string): string[] {
  const payloads = samples<{ payload: string }>("dompurify_payloads.ndjson").map(({ payload }) => payload);
  return [
    `<!doctype html><title>x</title><script>fetch('${canary}/page'); try { parent.document.title = 'taken' } catch {} top.location = '${canary}/top'; alert(1)</script><body onload="fetch('${canary}/body')"><img src="${canary}/image" onerror="alert(2)"><form action="${canary}/form"><input autofocus onfocus="alert(3)"></form><iframe src="${canary}/frame"></iframe><link rel=stylesheet href="${canary}/sheet"><meta http-equiv=refresh content="0;url=${canary}/refresh">`,
    ...Array.from(
      { length: PAGES },
      (_, n) => `<!doctype html><body>${payloads.filter((_, i) => i % PAGES === n).join("\n")}`,
    ),
  ];
}

/** Texts of one token's attributes: a contract keeps less than 24 kB of it. */
const BUNDLE = 20;

/** Token URIs: each text as a name, all of them as attributes and descriptions, each drawing, each page. */
export function hostileUris(canary: string): string[] {
  const texts = hostileTexts(canary);
  const documents: object[] = [
    ...texts.map((name) => ({ name })),
    ...texts.slice(0, 14).map((text) => ({
      name: text,
      description: text,
      external_url: text,
      youtube_url: text,
      background_color: `fff;background:url(${canary}/background)`,
      image: text,
      animation_url: text,
      image_key: `../../${text}`,
      image_mime_type: `image/png" onerror="fetch('${canary}/type')`,
      attributes: [{ trait_type: text, display_type: text, value: text }],
    })),
    ...Array.from({ length: Math.ceil(texts.length / BUNDLE) }, (_, n) => {
      const bundle = texts.slice(n * BUNDLE, (n + 1) * BUNDLE);
      return {
        name: `Bundle ${n}`,
        description: bundle.join("\n"),
        attributes: bundle.map((text) => ({ trait_type: text.slice(0, 60), value: text })),
      };
    }),
    ...hostileDrawings(canary).map((image_data, n) => ({ name: `Drawing ${n}`, image_data })),
    ...hostilePages(canary).map((page, n) => ({
      name: `Page ${n}`,
      animation_url: `data:text/html;base64,${Buffer.from(page).toString("base64")}`,
    })),
  ];
  return documents.map(
    (document) => `data:application/json;base64,${Buffer.from(JSON.stringify(document)).toString("base64")}`,
  );
}

/** The sample's own cases, where they are at hand. */
function samples<T>(name: string): T[] {
  const path = `c_bad_input/${name}`;
  return existsSync(samplePath(path)) ? readSampleLines<T>(path) : [];
}
