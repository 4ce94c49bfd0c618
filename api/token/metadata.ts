import { z } from "@hono/zod-openapi";
import { emptyNormalized } from "../../offchain/document/normalize.ts";

const Attribute = z.strictObject({
  display_type: z.string().nullable(),
  trait_type: z.string(),
  value: z.string().openapi({ description: "Always a text: numbers keep the digits of the source." }),
});

const Property = z.strictObject({
  name: z.string().nullable(),
  value: z.string().nullable(),
  type: z.string().nullable(),
  description: z.string().nullable(),
});

/** Metadata in one shape, whatever the project wrote. */
export const NormalizedMetadata = z
  .strictObject({
    image_mime_type: z.string(),
    image_key: z.string(),
    image: z.string(),
    image_data: z.string(),
    external_url: z.string(),
    description: z.string(),
    name: z.string(),
    attributes: z.array(Attribute),
    properties: z.array(Property).nullable(),
    background_color: z.string(),
    animation_url: z.string(),
    animation_key: z.string(),
    animation_mime_type: z.string(),
    youtube_url: z.string(),
  })
  .openapi("NormalizedMetadata");

export const Metadata = z
  .strictObject({
    normalized: NormalizedMetadata,
    raw: z.string().openapi({ description: "The document as it was fetched; empty before the first fetch." }),
    metadata_updated_at: z
      .int()
      .nullable()
      .openapi({ description: "Unix seconds of the last fetch that succeeded; null before it." }),
  })
  .openapi("Metadata");

/** The normalized shape before the first fetch, as JSON. */
export const EMPTY_NORMALIZED = JSON.stringify(emptyNormalized() satisfies z.infer<typeof NormalizedMetadata>);
