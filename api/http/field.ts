import { z } from "@hono/zod-openapi";

/* Fields of answers, each with what it means: the OpenAPI document has no other source. */

export const text = (description: string) => z.string().openapi({ description });
export const integer = (description: string) => z.int().openapi({ description });
/** Its format is for generated clients: the numbers of Go and Rust have seven digits without. */
export const number = (description: string) => z.number().openapi({ format: "double", description });
export const flag = (description: string) => z.boolean().openapi({ description });
/** An enum field. `meanings` has its values and their descriptions. */
export const oneOf = <T extends string>(meanings: Record<T, string>, about = "") => {
  const values = Object.keys(meanings) as [T, ...T[]];
  const description = values.map((value) => `\`${value}\`: ${meanings[value]}`).join("; ");
  return z.enum(values).openapi({ description: `${about}${description}.` });
};
export const list = <T extends z.ZodType>(item: T, description: string) => z.array(item).openapi({ description });

/** A limit as texts name it: 1,048,576. Without Intl, whose data takes 35 ms to load. */
export const grouped = (limit: number) => String(limit).replaceAll(/\B(?=(\d{3})+$)/g, ",");

const Cursor = text(
  "Where the next page begins, for the parameter `cursor`, as it is; null where the list ends.",
).nullable();

/** A page of items: `result`, and the cursor of the next page. */
export const pageOf = (item: z.ZodType) =>
  z.strictObject({
    cursor: Cursor,
    result: list(item, "Items of this page, in the order of the list; empty where that has none."),
  });
