import { z } from "@hono/zod-openapi";
import { emptyNormalized } from "../../offchain/document/normalize.ts";
import { list, text } from "../http/field.ts";
import { MetadataUpdatedAt, RawMetadata } from "./token-field.ts";

const Attribute = z.strictObject({
  display_type: text("How the project wants it shown, as `number` or `date`; null where it doesn't say.").nullable(),
  trait_type: text("Name of the trait; empty where it has none."),
  value: text(
    "Always a text: numbers keep the digits of the source, booleans are `true` and `false`, arrays are joined by a " +
      "comma and a space, objects are JSON, null is empty.",
  ),
});

const Property = z.strictObject({
  name: text("Its own name, else its key in the document; null where it has neither.").nullable(),
  value: text("A text like that of an attribute; null where it has none.").nullable(),
  type: text("What the document says that it is; null where it doesn't.").nullable(),
  description: text("What it is about; null where the document doesn't say.").nullable(),
});

/** Metadata in one shape, whatever the project's document looks like. */
const NormalizedMetadata = z
  .strictObject({
    image_mime_type: text("Type of the cached image, as its content was recognized; empty while it isn't cached."),
    image_key: text("Key of the cached image, or of the drawing, for `/media/{key}`; empty while it isn't cached."),
    image: text(
      "Link to the image, in its own scheme (`https:`, `ipfs:`, `ar:`, `data:` …). What turns out to be film, sound or " +
        "a model is the animation instead, where the document names no other. A link that leads to a page stays here, " +
        "without a key.",
    ),
    image_data: text("The image itself as text, mostly SVG, where the document has it so."),
    external_url: text("Link to the project's own page of the token."),
    description: text("What the token is about."),
    name: text("Name of the token."),
    attributes: list(
      Attribute,
      "Traits, in the document's order and without exact repetitions; empty where it has none.",
    ),
    properties: list(Property, "The document's `properties`, from a map or a list; null where it has none.").nullable(),
    background_color: text("Six hex digits in lower case, without `#`."),
    animation_url: text("Link to a film, sound, model or page, in its own scheme."),
    animation_key: text("Key of its cached content for `/media/{key}`; empty while it isn't cached."),
    animation_mime_type: text("Type of its cached content, as that was recognized; empty while it isn't cached."),
    youtube_url: text("Link to a film on YouTube."),
  })
  .openapi("NormalizedMetadata", {
    description:
      "Metadata in one shape, whatever the project wrote. A text is empty where the document has none, all are before " +
      "the first fetch. At most 256 KiB of JSON: texts that are longer are cut, and the last attributes and properties " +
      "left out.",
  });

/** A token's metadata in answers. */
export const Metadata = z
  .strictObject({
    normalized: NormalizedMetadata,
    raw: RawMetadata,
    metadata_updated_at: MetadataUpdatedAt,
  })
  .openapi("Metadata", {
    description: "What a token's URI leads to. A fetch that fails leaves what was there before as it is.",
  });

/** The normalized shape before the first fetch, as JSON. */
export const EMPTY_NORMALIZED = JSON.stringify(emptyNormalized() satisfies z.infer<typeof NormalizedMetadata>);
