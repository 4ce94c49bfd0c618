/** What kind of problem a node's error is. */
type ProviderProblem =
  /** Too many blocks, logs or bytes, or too much time: a smaller range helps. */
  | { kind: "too large"; maxBlocks?: number; maxLogs?: number; upTo?: number }
  | { kind: "rate limit" }
  | { kind: "batch too large" }
  | { kind: "too many addresses" }
  | { kind: "other" };

const RATE_LIMIT =
  /rate.?limit|request rate|rps limit|too many requests?|requests? (per|a) (second|minute|day)|throttl|compute units|capacity|quota|credits|request limit|request count/i;

const BATCH = /batch (size|limit|too|of more|is too|item|request)|(calls|requests) in (a |one |the )?batch/i;

const ADDRESSES =
  /(max(imum)?|many|number of|than [\d,]+|to [\d,]+|of [\d,]+) address|address and topic selectors|query contains \d+ filters/i;

const TOO_LARGE =
  /range|smaller than|more than [\d,]+ (results|logs)|too (many|much) (results|logs|data|blocks)|results? set|response (size|is|too)|exceed|too large|too big|too wide|limited? to|max(imum)? results|distance|time(d)?.?out|deadline|took too long|aborted|narrow/i;

const BLOCK_LIMITS = [
  /up to an? ([\d,.]+k?)[- ]block/i,
  /limited to (?:an? )?([\d,.]+k?)/i,
  /(?:max|maximum|max(?:imum)? (?:block )?range|limit|most|over|than|exceeds?|distance|filter)(?: (?:is|is set to|of|=)|:)? ?([\d,.]+k?)\b/i,
  /plan \([\d,]+ > ([\d,]+)\)/i,
  /blocks is ([\d,.]+k?)/i,
];

const LOG_LIMITS = [
  /more than ([\d,.]+k?) (?:results|logs|events)/i,
  /max results ([\d,.]+k?)/i,
  /max logs per response is ([\d,.]+k?)/i,
  /too many logs, narrow your filter: ([\d,.]+k?)/i,
  /(?:results|logs) .*limit of ([\d,.]+k?)/i,
];

/**
 * Classifies a node's error. Providers use their own words for limits: these are from their documentation and from
 * users' reports. An unknown error is "other": it also leads to smaller ranges, only more slowly.
 */
export function classifyError({ code, message }: { code: number; message: string }): ProviderProblem {
  if (code === 429 || code === -32_029) return { kind: "rate limit" };
  if (BATCH.test(message)) return { kind: "batch too large" };
  if (ADDRESSES.test(message)) return { kind: "too many addresses" };
  const upTo = readSuggestion(message);
  const maxLogs = readNumber(message, LOG_LIMITS);
  const isOfBlocks = maxLogs === undefined && /block|range|distance/i.test(message);
  // Where several numbers are named, the smallest: one of the others may be what was asked for.
  const maxBlocks = isOfBlocks ? readNumber(message, BLOCK_LIMITS) : undefined;
  if (upTo !== undefined || maxLogs !== undefined || maxBlocks !== undefined)
    return {
      kind: "too large",
      ...(upTo !== undefined && { upTo }),
      ...(maxLogs !== undefined && { maxLogs }),
      ...(maxBlocks !== undefined && { maxBlocks }),
    };
  if (RATE_LIMIT.test(message)) return { kind: "rate limit" };
  return TOO_LARGE.test(message) ? { kind: "too large" } : { kind: "other" };
}

/** The last block of the range that the node suggests: "[0x10, 0x2f]", "range 16-47". */
function readSuggestion(message: string): number | undefined {
  const match = /(?:\[|range )\s*(?:0x[0-9a-f]+|\d+)\s*[,-]\s*(0x[0-9a-f]+|\d+)/i.exec(message);
  const upTo = Number(match?.[1]);
  return Number.isSafeInteger(upTo) ? upTo : undefined;
}

function readNumber(message: string, patterns: RegExp[]): number | undefined {
  const values = patterns.flatMap((pattern) => {
    const text = pattern.exec(message)?.[1];
    if (text === undefined) return [];
    const digits = text.replace(/[,.]/g, "").toLowerCase();
    const value = digits.endsWith("k") ? Number(digits.slice(0, -1)) * 1000 : Number(digits);
    return Number.isSafeInteger(value) && value > 0 ? [value] : [];
  });
  return values.length > 0 ? Math.min(...values) : undefined;
}
