/**
 * A count as it is typed, with or without separators: undefined when nothing is typed, NaN when it is no number, which
 * the engine refuses in its own words.
 */
export function readCount(text: string): number | undefined {
  const digits = text.replaceAll(/[\s,_]/g, '');
  return digits === '' ? undefined : Number(digits);
}
