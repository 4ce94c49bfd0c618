import { z } from "@hono/zod-openapi";

/** The longest name of a key, in characters. */
const MAX_NAME_LENGTH = 100;
/** No control characters. */
const NAME = /^[^\p{Cc}]*$/u;
/**
 * Those of ASCII, for generated clients: without the flag `u`, `\p{Cc}` is letters; `\x9f` Ruby doesn't compile, and to
 * PHP it is a byte of "ß".
 */
const NAME_PATTERN = "^[^\\x00-\\x1f\\x7f]*$";
const NAME_ERROR = "name has control characters. Expected printable ones.";

/** The body of a registration. */
export const KeyBody = z.object(
  {
    name: z
      .string({ error: `name is missing or not a text. Expected 1 to ${MAX_NAME_LENGTH} characters.` })
      .trim()
      .min(1, { error: `name is empty. Expected 1 to ${MAX_NAME_LENGTH} characters.` })
      .max(MAX_NAME_LENGTH, { error: `name is too long. Expected 1 to ${MAX_NAME_LENGTH} characters.` })
      // Postgres text can't hold NUL, and a name is one line of a list.
      .regex(NAME, { error: NAME_ERROR })
      // Nor can it hold half of a character.
      .refine((name) => name.isWellFormed(), { error: NAME_ERROR })
      .openapi({
        pattern: NAME_PATTERN,
        description:
          "What the key is for, as the list of keys shows it: one line without control characters. White space around it " +
          "is cut off, and doesn't count.",
        example: "my-app",
      }),
  },
  { error: "The body is not an object. Expected an object with name." },
);
