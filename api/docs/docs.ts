/** What the page and the client's types take of an OpenAPI document. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  default?: unknown;
};
type Operation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content?: Record<string, { schema?: Schema; example?: unknown }> };
  responses?: Record<
    string,
    { description?: string; content?: Record<string, { schema?: Schema; example?: unknown }> }
  >;
};
export type ShownDocument = {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

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
table{border-collapse:collapse;width:100%;font-size:.92rem}td,th{text-align:left;vertical-align:top;overflow-wrap:anywhere;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
summary{cursor:pointer}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.3rem;z-index:1;padding:.4rem .8rem;background:var(--page)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}main:focus{outline:none}
@media (max-width:52rem){body{display:block}nav{position:static;height:auto;border:0;border-bottom:1px solid var(--line)}}
@media (max-width:40rem){tr,td{display:block}tr:has(th){display:none}tr{border-bottom:1px solid var(--line);padding:.4rem 0}td{border:0;padding:0}}
`;

/** The document as one HTML page, readable without scripts. */
export function renderDocs(document: ShownDocument): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = document.tags ?? [];
  const schemas = Object.entries(document.components?.schemas ?? {});
  const nav = tags
    .map(
      ({ name }) =>
        `<strong>${escape(name)}</strong>${operations
          .filter(({ operation }) => operation.tags?.includes(name))
          .map(
            ({ path, method, operation }) =>
              `<a href="#${operation.operationId}">${method.toUpperCase()} ${escape(path)}</a>`,
          )
          .join("")}`,
    )
    .join("<br>");
  const body = tags
    .map(
      ({ name, description }) =>
        `<h2>${escape(name)}</h2><p>${inline(description ?? "")}</p>${operations
          .filter(({ operation }) => operation.tags?.includes(name))
          .map(renderOperation)
          .join("")}`,
    )
    .join("");
  const shapes = schemas
    .map(
      ([name, schema]) =>
        `<section id="schema-${escape(name)}"><h3>${escape(name)}</h3>${renderText(schema.description ?? "")}${renderFields(schema)}</section>`,
    )
    .join("");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escape(document.info.title)}</title><style>${STYLE}</style></head><body><a class="skip" href="#main">Skip to content</a><nav aria-label="Endpoints"><a href="/">Explorer</a><br>${nav}<br><strong>Shapes</strong>${schemas.map(([name]) => `<a href="#schema-${escape(name)}">${escape(name)}</a>`).join("")}<br><a href="openapi.json">openapi.json</a></nav><main id="main" tabindex="-1"><h1>${escape(document.info.title)}</h1>${renderText(document.info.description ?? "")}${body}<h2>Shapes</h2>${shapes}</main></body></html>`;
}

function renderOperation({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const parameters = (operation.parameters ?? [])
    .map(
      ({ name, in: place, required, description, schema }) =>
        `<tr><td><code>${escape(name)}</code></td><td>${place}${required ? ", required" : ""}</td><td>${typeOf(schema)}</td><td>${inline(description ?? schema?.description ?? "")}</td></tr>`,
    )
    .join("");
  const body = operation.requestBody?.content?.["application/json"];
  const responses = Object.entries(operation.responses ?? {});
  const success = responses.find(([status]) => status.startsWith("2"));
  const content = success?.[1].content?.["application/json"];
  const errors = responses
    .filter(([status]) => !status.startsWith("2"))
    .map(([status, { description }]) => `<tr><td>${status}</td><td>${inline(description ?? "")}</td></tr>`)
    .join("");
  return `<section id="${operation.operationId}"><h3><span class="m">${method.toUpperCase()}</span> ${escape(path)} ${operation.security ? '<span class="k">x-api-key</span>' : ""}</h3><p>${inline(operation.summary ?? "")}. ${inline(operation.description ?? "")}</p>${
    parameters && `<table><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr>${parameters}</table>`
  }${body ? `<p>Body: ${typeOf(body.schema)}</p>${renderFields(body.schema ?? {})}${renderExample(body.example)}` : ""}${
    content
      ? `<p>Answer ${success?.[0]}: ${typeOf(content.schema)}</p>${renderFields(content.schema ?? {})}${renderExample(content.example)}`
      : ""
  }<details><summary>Errors</summary><table>${errors}</table></details></section>`;
}

const renderExample = (example: unknown) => `<pre tabindex="0">${escape(JSON.stringify(example, null, 2))}</pre>`;

function renderFields(schema: Schema): string {
  const properties = Object.entries(schema.properties ?? {});
  const parts = (schema.allOf ?? [])
    .map((part) => (part.$ref ? `<p>${typeOf(part)} and:</p>` : renderFields(part)))
    .join("");
  if (properties.length === 0) return parts;
  const rows = properties
    .map(
      ([name, field]) =>
        `<tr><td><code>${escape(name)}</code>${schema.required?.includes(name) ? "" : " (optional)"}</td><td>${typeOf(field)}</td><td>${inline(field.description ?? "")}</td></tr>`,
    )
    .join("");
  const nested = properties
    .map(([name, field]) => [name, field.items ?? field] as const)
    .filter(([, field]) => field.properties)
    .map(([name, field]) => `<p><code>${escape(name)}</code> has:</p>${renderFields(field)}`)
    .join("");
  return `${parts}<table>${rows}</table>${nested}`;
}

function typeOf(schema: Schema | undefined): string {
  if (!schema) return "";
  if (schema.$ref) {
    const name = escape(schema.$ref.split("/").at(-1) ?? "");
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(" or ");
  const fallback = schema.default === undefined ? "" : `, default ${escape(JSON.stringify(schema.default))}`;
  if (schema.enum)
    return schema.enum.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(" or ") + fallback;
  if (schema.items) return `array of ${typeOf(schema.items)}${schema.maxItems ? `, at most ${schema.maxItems}` : ""}`;
  const type = escape([schema.type ?? []].flat().join(" or "));
  const range =
    schema.minimum !== undefined && schema.maximum !== undefined ? ` ${schema.minimum} to ${schema.maximum}` : "";
  return `${type}${range}${fallback}`;
}

/** Paragraphs with **bold** and `code`. */
function renderText(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("");
}

function inline(text: string): string {
  return escape(text)
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
