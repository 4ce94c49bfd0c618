/**
 * Seconds that a Retry-After header asks to wait, 0 or more; it has seconds or a date. Undefined where it says neither:
 * other numbers must not get to `Date`, which reads them as years or months. Source: RFC 9110, 10.2.3.
 */
export function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0];
  if (text === undefined) return undefined;
  const time = text.endsWith(" GMT") ? Date.parse(text) : NaN;
  const seconds = /^\d+$/.test(text) ? Number(text) : (time - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(seconds, 0) : undefined;
}
