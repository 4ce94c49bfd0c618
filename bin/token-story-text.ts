import type { Sql } from "postgres";
import type { Hex } from "viem";
import { placesText, readTokenStories, type TokenStory } from "../offchain/token/token-story.ts";
import { plainText } from "./plain-text.ts";
import { formatTimestamp } from "./timestamp.ts";

/** All that is known of how a token came by its metadata, in lines for a terminal; one block for each chain that has it. */
export async function tellTokenStory(
  sql: Sql,
  { contractAddress, tokenId }: { contractAddress: Hex; tokenId: string },
): Promise<string[]> {
  const rows = await readTokenStories(sql, { contractAddress, tokenId });
  return rows.flatMap((row) => tell(row, { contractAddress, tokenId }));
}

function tell(row: TokenStory, { contractAddress, tokenId }: { contractAddress: Hex; tokenId: string }): string[] {
  const line = (label: string, ...parts: (string | false | null | undefined)[]) => {
    const text = plainText(parts.filter((part) => typeof part === "string" && part !== "").join(", "));
    return text === "" ? [] : [`  ${label.padEnd(12)}${text}`];
  };
  const media = (link: string, key: string, mimeType: string) => [
    cut(link),
    key === "" ? "not stored" : `${mimeType}, /media/${key}`,
  ];
  return [
    `Token ${tokenId} of ${contractAddress} on chain ${row.chain_id}`,
    ...line(
      "Contract",
      row.contract_name,
      row.uri_function && `asked by ${row.uri_function}()`,
      row.id_form && `{id} as ${row.id_form}`,
      row.contract_error_code && `not read: ${row.contract_error_code}`,
      row.contract_error_code && row.contract_due_at && `due ${at(row.contract_due_at)}`,
    ),
    ...line("Collection", ...collectionParts(row)),
    ...line("Token URI", cut(row.token_uri)),
    ...line(
      "Document",
      row.is_fetched ? `${row.raw_length} characters from ${cut(row.fetched_from ?? "")}` : "none yet",
      at(row.updated_at),
    ),
    ...line("Name", cut(row.name)),
    ...line("Attributes", row.is_fetched && String(row.attributes)),
    ...(row.image === "" && row.image_key === ""
      ? []
      : line("Image", ...media(row.image || "drawing in the document", row.image_key, row.image_mime_type))),
    ...(row.animation_url === ""
      ? []
      : line("Animation", ...media(row.animation_url, row.animation_key, row.animation_mime_type))),
    ...line("Last try", at(row.attempted_at), row.attempts > 0 && `${row.attempts} without success`),
    ...line("Error", row.error_code, row.error_host, row.error_message),
    ...(row.media_error_code === null
      ? []
      : line("Media error", row.media_error_code, row.media_error_host, `${row.media_attempts} without success`)),
    ...line(
      "Refresh",
      row.refresh_requested_at && `asked for ${at(row.refresh_requested_at)}`,
      row.awaiting && "awaited",
    ),
    ...line("Next", nextOf(row)),
    ...line("Next media", nextMediaOf(row)),
  ];
}

/** Why the collection has no document of its own, unless its contract just names none, as most don't. */
function collectionParts({ contract_uri_error_code: code, contract_uri_due_at: dueAt }: TokenStory): string[] {
  if (code === null || code === "revert" || code === "no_uri") return [];
  return [`its own document failed: ${code}`, ...(dueAt ? [`due ${at(dueAt)}`] : [])];
}

function nextOf(story: TokenStory): string {
  const { turn, due_at, is_dropped } = story;
  if (turn !== null) return `ready, ${placesText(story)}`;
  if (is_dropped) return "nothing: it isn't indexed any more";
  return due_at ? `due ${at(due_at)}` : "nothing to do until something asks for it";
}

/** An attempt without an error has no outcome yet: it is under way, or its worker was killed. */
function nextMediaOf({ media_due_at, media_attempts, media_error_code }: TokenStory): string {
  if (!media_due_at) return "";
  const due = at(media_due_at);
  const isUnderWay = media_attempts > 0 && media_error_code === null;
  return isUnderWay ? `being fetched, due again ${due} if its worker ends before` : `due ${due}`;
}

function at(date: Date | null): string {
  return date ? formatTimestamp(date) : "";
}

/** On one line, and not endless. */
function cut(text: string): string {
  const line = plainText(text);
  return line.length > 120 ? `${line.slice(0, 120)}… (${text.length} characters)` : line;
}
