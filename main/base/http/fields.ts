/**
 * Name and value of each field of a flat list (name, value, name, value, …), as Node has raw headers. It makes an array
 * for each field; code that handles the header section of every request loops by itself and makes none.
 */
export function pairsOf(fields: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) pairs.push([fields[index] ?? '', fields[index + 1] ?? '']);
  return pairs;
}

/** A flat list without the fields whose name, in lower case, is unwanted; spelling and order stay. */
export function withoutFields(fields: readonly string[], isUnwanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!isUnwanted(name.toLowerCase())) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}
