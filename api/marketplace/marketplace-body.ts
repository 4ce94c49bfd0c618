import { giveMemory, growMemory, takeMemory } from "../http/body-memory.ts";
import { type Parameter, type RowStream, squeeze } from "../sql/database.ts";
import { SMALL_DOCUMENT_BYTES } from "../sql/item.ts";
import { createKeptLists } from "../sql/kept-list.ts";

/** Items that Postgres sends as one row: some 45 kB. */
const PIECE_ITEMS = 50;
/** Size of most pages, in bytes. */
const USUAL_BYTES = 131_072;

/** SQL of the items of a page, joined by commas, in pieces. `select` yields each `item` with its `place` from 1. */
export const itemsByPlace = (select: string) =>
  squeeze(`
  select string_agg(listed.item, ',')
  from (
    select
      numbered.item,
      (numbered.place - 1) / ${PIECE_ITEMS} as piece
    from (${select}) as numbered
    order by
      piece,
      numbered.place
  ) as listed
  group by listed.piece
  order by listed.piece
`);

/** Most bytes of large texts on one page: 250 of the largest would be 64 MB. */
const MAX_LARGE_BYTES = 4 * 1024 * 1024;
/** Both limits, as the documentation names them. */
export const LARGE = `above ${SMALL_DOCUMENT_BYTES / 1024} kB`;
export const LARGE_OF_PAGE = `the first ${MAX_LARGE_BYTES / 1024 ** 2} MB`;

/**
 * Whether a text is shown: if it is small, or the page's texts up to it fit the limit. A large text may hold a picture.
 */
export const isRead = (bytes: string, { place }: { place: string }) => `
  (
    ${bytes} <= ${SMALL_DOCUMENT_BYTES}
    or sum(${bytes}) over (order by ${place}) <= ${MAX_LARGE_BYTES}
  )
`;

/**
 * The body of a numbered page: the items of a statement made by `itemsByPlace`, and `about`, the fields of the list.
 */
export async function loadNumberedPage(
  stream: RowStream,
  {
    text,
    parameters,
    about,
    ifEmpty = () => Promise.resolve(),
  }: {
    text: string;
    parameters: readonly Parameter[];
    about: object;
    /** Called if there are no items. It may throw, to refuse the request. */
    ifEmpty?: (() => Promise<unknown>) | undefined;
  },
): Promise<Buffer> {
  let memory = takeMemory(USUAL_BYTES);
  let end = memory.write('{"data":[', "latin1");
  const empty = end;
  const put = (chunk: Buffer) => {
    // One byte more, for a comma.
    const size = end + chunk.length + 1;
    if (size > memory.length) memory = growMemory(memory, { used: end, size });
    if (end > empty) end += memory.write(",", end, "latin1");
    end += chunk.copy(memory, end);
  };
  try {
    await stream(text, parameters, ([piece]) => put(piece as Buffer));
    if (end === empty) await ifEmpty();
  } catch (error) {
    giveMemory(memory);
    throw error;
  }
  const rest = `],${JSON.stringify(about).slice(1)}`;
  const size = end + rest.length;
  if (size > memory.length) memory = growMemory(memory, { used: end, size });
  end += memory.write(rest, end, "latin1");
  return memory.subarray(0, end);
}

/** So many bytes of a kept body count as one entry of a kept list. */
const ENTRY_BYTES = 50;

/** `key`: all that a page depends on; `listSize`: entries of its list. */
type PageOfList = { key: object; listSize: number };

/**
 * Keeps bodies of pages of long lists and uses them again for a while, because everybody asks for the first pages.
 * Making a page of the list takes hundredths of a second; it is kept for a few times as long.
 */
export function createKeptPages(): (page: PageOfList, load: () => Promise<Buffer>) => Promise<Buffer> {
  const getPage = createKeptLists<{ body: Buffer; listSize: number }>({
    sizeOf: ({ listSize }) => listSize,
    weightOf: ({ body }) => body.length / ENTRY_BYTES,
  });
  return async ({ key, listSize }, load) => {
    const { body } = await getPage(JSON.stringify(key), async () => {
      const taken = await load();
      // A copy, because the memory of a body is used for other bodies once it is sent.
      const own = Buffer.from(taken);
      giveMemory(taken);
      return { body: own, listSize };
    });
    return body;
  };
}
