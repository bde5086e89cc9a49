/**
 * Name and value of each field of a flat list (name, value, name, value, …), as Node has raw headers. It makes an array
 * for each field: what reads the header section of every request in the data plane has a loop of its own.
 */
export function pairsOf(fields: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) pairs.push([fields[index] ?? '', fields[index + 1] ?? '']);
  return pairs;
}
