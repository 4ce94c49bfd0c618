import { html, raw } from "hono/html";
import type { Operation, Parameter, Schema, ShownDocument } from "./shown-document.ts";

type PlacedOperation = { path: string; method: string; operation: Operation };
type Group = { name: string; description?: string; operations: PlacedOperation[] };

/** Markup. Whatever is put into the template `html` is escaped unless it is markup itself. */
type Html = ReturnType<typeof html>;
/** What goes into such a template. */
type Content = Html | string | Content[];

/** The page asks nobody for anything, and says so. */
export const DOCS_HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

const STYLE = `
:root{color-scheme:light dark;--page:#f6f5f1;--ink:#1d1c1a;--line:#dcd8cf;--soft:#e9e6de;--link:#0a5f5f}
@media (prefers-color-scheme:dark){:root{--page:#121415;--ink:#ecebe7;--line:#33373a;--soft:#26292c;--link:#74d3c8}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:19rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem 1rem;border-right:1px solid var(--line);font-size:.85rem}
nav a{display:block;padding:.15rem 0;text-decoration:none;overflow-wrap:anywhere}a{color:var(--link)}
main{padding:2rem clamp(1rem,4vw,3.5rem);max-width:62rem}h1{margin-top:0}h2{margin-top:3rem;border-bottom:1px solid var(--line)}
section{margin:2.5rem 0;scroll-margin-top:1rem}h3{font:600 1.05rem ui-monospace,monospace;overflow-wrap:anywhere;margin-bottom:.3rem}
.m{display:inline-block;min-width:3.2rem;font-weight:700}.k{font:.8rem system-ui;border:1px solid var(--line);border-radius:.3rem;padding:0 .4rem}
code,pre{font:.86em/1.5 ui-monospace,monospace}code{background:var(--soft);padding:.1em .3em;border-radius:.25rem}
pre{background:var(--soft);padding:.8rem 1rem;border-radius:.4rem;overflow:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
p,td:last-child{overflow-wrap:anywhere}summary{cursor:pointer}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.3rem;z-index:1;padding:.4rem .8rem;background:var(--page)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}main:focus{outline:none}
@media (max-width:52rem){body{display:block}nav{position:static;height:auto;max-height:45vh;border:0;border-bottom:1px solid var(--line)}}
@media (max-width:40rem){tr,td{display:block}tr:has(th){display:none}tr{border-bottom:1px solid var(--line);padding:.4rem 0}td{border:0;padding:0;overflow-wrap:anywhere}}
`;

/** The document as one HTML page, readable without scripts. */
export function renderDocs(document: ShownDocument): Html {
  const { info, tags = [] } = document;
  const all = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): PlacedOperation => ({ path, method, operation })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    operations: all.filter(({ operation }) => operation.tags?.includes(tag.name)),
  }));
  const schemas = Object.entries(document.components?.schemas ?? {});
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${info.title}</title>
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <nav aria-label="Endpoints">
          <a href="/">Explorer</a>
          <br />
          ${groups.map(renderLinks)}
          <strong>Shapes</strong>
          ${schemas.map(([name]) => html`<a href="#schema-${name}">${name}</a>`)}
          <br />
          <a href="openapi.json">openapi.json</a>
        </nav>
        <main id="main" tabindex="-1">
          <h1>${info.title}</h1>
          ${renderText(info.description)} ${groups.map(renderGroup)}
          <h2>Shapes</h2>
          ${schemas.map(renderSchema)}
        </main>
      </body>
    </html>`;
}

const renderLinks = ({ name, operations }: Group) =>
  html`<strong>${name}</strong>
    ${operations.map(
      ({ path, method, operation }) => html`<a href="#${operation.operationId}">${method.toUpperCase()} ${path}</a>`,
    )}
    <br />`;

const renderGroup = ({ name, description, operations }: Group) =>
  html`<h2>${name}</h2>
    <p>${inline(description)}</p>
    ${operations.map(renderOperation)}`;

const renderSchema = ([name, schema]: [string, Schema]) =>
  html`<section id="schema-${name}">
    <h3>${name}</h3>
    ${renderText(schema.description)} ${renderFields(schema)}
  </section>`;

function renderOperation({ path, method, operation }: PlacedOperation): Html {
  const { parameters = [] } = operation;
  const body = operation.requestBody?.content?.["application/json"];
  const responses = Object.entries(operation.responses ?? {});
  const success = responses.find(([status]) => status.startsWith("2"));
  const content = success?.[1].content?.["application/json"];
  const errors = responses.filter(([status]) => !status.startsWith("2"));
  return html`<section id="${operation.operationId}">
    <h3>
      <span class="m">${method.toUpperCase()}</span> ${path}
      ${operation.security && html`<span class="k">x-api-key</span>`}
    </h3>
    ${renderText(`${operation.summary}. ${operation.description ?? ""}`)}
    ${
      parameters.length > 0 &&
      html`<table>
        <tr>
          <th>Parameter</th>
          <th>In</th>
          <th>Type</th>
          <th>Meaning</th>
        </tr>
        ${parameters.map(renderParameter)}
      </table>`
    }
    ${
      body &&
      html`<p>Body: ${typeOf(body.schema)}</p>
        ${renderFields(body.schema ?? {})} ${renderExample(body.example)}`
    }
    ${
      content &&
      html`<p>Answer ${success?.[0]}: ${typeOf(content.schema)}</p>
        ${renderFields(content.schema ?? {})} ${renderExample(content.example)}`
    }
    <details>
      <summary>Errors</summary>
      <table>
        ${errors.map(
          ([status, { description }]) =>
            html`<tr>
              <td>${status}</td>
              <td>${inline(description)}</td>
            </tr>`,
        )}
      </table>
    </details>
  </section>`;
}

const renderParameter = ({ name, in: place, required, description, schema }: Parameter) =>
  html`<tr>
    <td><code>${name}</code></td>
    <td>${place}${required && ", required"}</td>
    <td>${typeOf(schema)}</td>
    <td>${inline(description ?? schema?.description)}</td>
  </tr>`;

const renderExample = (example: unknown) => html`<pre tabindex="0">${JSON.stringify(example, null, 2)}</pre>`;

function renderFields(schema: Schema): Content {
  const properties = Object.entries(schema.properties ?? {});
  const parts = (schema.allOf ?? []).map((part) =>
    part.$ref ? html`<p>${typeOf(part)} and:</p>` : renderFields(part),
  );
  if (properties.length === 0) return parts;
  const rows = properties.map(
    ([name, field]) =>
      html`<tr>
        <td><code>${name}</code>${!schema.required?.includes(name) && " (optional)"}</td>
        <td>${typeOf(field)}</td>
        <td>${inline(field.description)}</td>
      </tr>`,
  );
  const nested = properties
    .map(([name, field]) => [name, field.items ?? field] as const)
    .filter(([, field]) => field.properties)
    .map(
      ([name, field]) =>
        html`<p><code>${name}</code> has:</p>
          ${renderFields(field)}`,
    );
  return html`${parts}
    <table>
      ${rows}
    </table>
    ${nested}`;
}

function typeOf(schema: Schema | undefined): Content {
  if (!schema) return "";
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return withOr(choices.map(typeOf));
  const fallback = schema.default === undefined ? "" : `, default ${JSON.stringify(schema.default)}`;
  if (schema.enum) return [withOr(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`)), fallback];
  if (schema.items) return ["array of ", typeOf(schema.items), schema.maxItems ? `, at most ${schema.maxItems}` : ""];
  const type = [schema.type ?? []].flat().join(" or ");
  const range =
    schema.minimum !== undefined && schema.maximum !== undefined ? ` ${schema.minimum} to ${schema.maximum}` : "";
  return `${type}${range}${fallback}`;
}

const withOr = (choices: Content[]): Content =>
  choices.flatMap((choice, index) => (index > 0 ? [" or ", choice] : choice));

/** Paragraphs with **bold** and `code`. */
const renderText = (text = "") => text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`);

function inline(text = ""): Content {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part, index) => {
    const isMarked = index % 2 === 1;
    if (!isMarked) return part;
    return part.startsWith("*")
      ? html`<strong>${inline(part.slice(2, -2))}</strong>`
      : html`<code>${part.slice(1, -1)}</code>`;
  });
}
