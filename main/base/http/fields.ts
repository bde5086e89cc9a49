/**
 * The name-value pairs of a flat list (name, value, …), such as Node's raw headers. Allocates an array per field, so
 * code on the hot path loops over the flat list instead.
 */
export function pairsOf(fields: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) pairs.push([fields[index] ?? '', fields[index + 1] ?? '']);
  return pairs;
}

/** A flat list without the fields whose lower-case name is unwanted; keeps spelling and order. */
export function withoutFields(fields: readonly string[], isUnwanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!isUnwanted(name.toLowerCase())) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}
