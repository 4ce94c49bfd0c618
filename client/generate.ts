/**
 * Writes `schema.ts`, the types of all endpoints as openapi-fetch reads them, out of the API's own document. With
 * `--check` it writes nothing, and exits with 1 where the file is not what it would write.
 *
 * Ours, and not openapi-typescript: that one is built on the compiler of TypeScript 5, which can't live beside ours.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenApiDocument } from "../api/docs/openapi.ts";
import type { Content, Operation, Schema, ShownDocument } from "../api/docs/shown-document.ts";

const FILE = join(import.meta.dirname, "schema.ts");
const HEAD = `/**
 * Written by \`npm run client\` out of the OpenAPI document. Not for editing.
 */
`;

const [argument, ...others] = process.argv.slice(2);
if (others.length > 0 || (argument !== undefined && argument !== "--check")) {
  console.error(`Argument "${[argument, ...others].join(" ")}" is unknown. Expected nothing or --check.`);
  process.exit(1);
}
const text = format(generate(createOpenApiDocument() as ShownDocument));
if (argument === undefined) writeFileSync(FILE, text);
else if (readFileSync(FILE, "utf8") !== text) {
  console.error("client/schema.ts is not what the OpenAPI document says. Run npm run client.");
  process.exit(1);
}

/** As the formatter of this project has it. */
function format(text: string): string {
  return execFileSync("oxfmt", [`--stdin-filepath=${FILE}`], { input: text, encoding: "utf8" });
}

function generate({ paths = {}, components = {} }: ShownDocument): string {
  const schemas = Object.entries(components.schemas ?? {}).map(
    ([name, schema]) => `${describe(schema)}export type ${name} = ${typeOf(schema)};\n`,
  );
  const operations = Object.entries(paths).map(
    ([path, methods]) =>
      `  ${JSON.stringify(path)}: {\n${Object.entries(methods)
        .map(([method, operation]) => `${describeOperation(operation)}    ${method}: ${operationOf(operation)};\n`)
        .join("")}  };\n`,
  );
  return `${HEAD}\n${schemas.join("\n")}\n/** Every endpoint, by path and method. */\nexport type paths = {\n${operations.join("")}};\n`;
}

function operationOf({ parameters = [], requestBody, responses = {} }: Operation): string {
  const places = ["path", "query"].map((place) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    if (own.length === 0) return `${place}?: never`;
    const isRequired = own.some(({ required }) => required === true);
    const fields = own.map(
      ({ name, required, schema, ...parameter }) =>
        `${describe(parameter)}${field({ name, isRequired: required === true, schema })};\n`,
    );
    return `${place}${isRequired ? "" : "?"}: {\n${fields.join("")}}`;
  });
  const body = requestBody?.content;
  const answers = Object.entries(responses).map(
    ([status, { content }]) => `${status}: { headers: { [name: string]: unknown }; content: ${contentOf(content)} }`,
  );
  return `{
      parameters: { ${places.join("; ")} };
      ${body ? `requestBody${requestBody.required === true ? "" : "?"}: { content: ${contentOf(body)} };` : "requestBody?: never;"}
      responses: {
        ${answers.join(";\n        ")};
      };
    }`;
}

function contentOf(content: Content | undefined): string {
  const entries = Object.entries(content ?? {});
  if (entries.length === 0) return "{ [mediaType: string]: never }";
  return `{ ${entries.map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema)}`).join("; ")} }`;
}

/** A schema as a type. What it says beyond shapes, like patterns and ranges, is for the API to check. */
function typeOf(schema: Schema | undefined): string {
  if (!schema) return "unknown";
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown";
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => `(${typeOf(choice)})`).join(" | ");
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(" & ");
  // The client writes bigints as texts.
  if (schema["x-bigint"]) return "string | number | bigint";
  const types = [schema.type ?? []].flat();
  return types.map((type) => plainTypeOf(type, schema)).join(" | ") || "unknown";
}

function plainTypeOf(type: string, { items, properties = {}, required = [] }: Schema): string {
  if (type === "integer") return "number";
  if (type === "array") return `(${typeOf(items)})[]`;
  if (type !== "object") return type;
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${describe(schema)}${field({ name, isRequired: required.includes(name), schema })};\n`,
  );
  return `{\n${fields.join("")}}`;
}

function field({
  name,
  isRequired,
  schema,
}: {
  name: string;
  isRequired: boolean;
  schema: Schema | undefined;
}): string {
  return `${name}${isRequired ? "" : "?"}: ${typeOf(schema)}`;
}

function describeOperation({ summary, description }: Operation): string {
  return describe({ description: [summary, description].filter((text) => text !== undefined).join(". ") });
}

function describe({ description }: { description?: string }): string {
  return description === undefined ? "" : `/** ${description.replaceAll("*/", "* /").replaceAll(/\s+/g, " ")} */\n`;
}
