/** What the page and the client's types take of an OpenAPI document. */
export type ShownDocument = {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};
/** An endpoint. */
export type Operation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Record<string, { description?: string; content?: Content }>;
};
/** What an operation takes in its path, query or headers. */
export type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: Schema };
/** Bodies by media type. */
export type Content = Record<string, { schema?: Schema; example?: unknown }>;
/** The shape of a value. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  "x-bigint"?: boolean;
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
