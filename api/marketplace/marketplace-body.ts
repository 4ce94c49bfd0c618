import { giveMemory, growMemory, takeMemory } from "../http/body-memory.ts";
import { type Parameter, type RowStream, squeeze } from "../sql/database.ts";
import { SMALL_DOCUMENT_BYTES } from "../sql/item.ts";
import { createKeptLists } from "../sql/kept-list.ts";

/** Items of a piece that Postgres sends at once: some 45 kB. */
const PIECE_ITEMS = 50;
/** What most pages take. */
const USUAL_BYTES = 131_072;

/** SQL of the items of a page, which `select` has with their places from 1. */
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

/** What texts that are not small have together on a page: 250 of the largest would be 64 MB. */
const MAX_LARGE_BYTES = 4 * 1024 * 1024;

/** Whether texts of so many bytes are read, in the order of the page: a picture may be in one, and be all of it. */
export const isRead = (bytes: string, { place }: { place: string }) => `
  (
    ${bytes} <= ${SMALL_DOCUMENT_BYTES}
    or sum(${bytes}) over (order by ${place}) <= ${MAX_LARGE_BYTES}
  )
`;

/** The body of a list whose pages have numbers: items of a statement of `itemsByPlace`, and what is said of the list. */
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
    /** Waited for where there are no items: it may refuse. */
    ifEmpty?: (() => Promise<unknown>) | undefined;
  },
): Promise<Buffer> {
  let memory = takeMemory(USUAL_BYTES);
  let end = memory.write('{"data":[', "latin1");
  const empty = end;
  const put = (chunk: Buffer) => {
    // Room for a comma.
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

/** Bytes of a body that count as an entry of a list that is kept. */
const ENTRY_BYTES = 50;
/** What the shortest body counts: anybody may ask for very many pages past the end. */
const MIN_WEIGHT = 1000;

/** `key`: all that a page depends on; `listSize`: entries of its list. */
type PageOfList = { key: object; listSize: number };

/**
 * Bodies of pages of long lists, used again for some times of what it took to make them of the list, which is hundredths
 * of a second: everybody asks for the first ones.
 */
export function createKeptPages(): (page: PageOfList, load: () => Promise<Buffer>) => Promise<Buffer> {
  const getPage = createKeptLists<{ body: Buffer; listSize: number }>({
    sizeOf: ({ listSize }) => listSize,
    weightOf: ({ body }) => Math.max(MIN_WEIGHT, body.length / ENTRY_BYTES),
  });
  return async ({ key, listSize }, load) => {
    const { body } = await getPage(JSON.stringify(key), async () => {
      const taken = await load();
      // Memory of its own: that of a body is used for others once it is sent.
      const own = Buffer.from(taken);
      giveMemory(taken);
      return { body: own, listSize };
    });
    return body;
  };
}
