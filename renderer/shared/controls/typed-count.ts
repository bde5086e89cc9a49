/**
 * A typed count, with or without separators: undefined when empty, NaN when it is not a number, which the engine then
 * refuses.
 */
export function readCount(text: string): number | undefined {
  const digits = text.replaceAll(/[\s,_]/g, '');
  return digits === '' ? undefined : Number(digits);
}
