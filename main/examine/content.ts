/** Names whose values differ from run to run though nothing else does. */
const VARYING: ReadonlySet<string> = new Set(['id', 'petId', 'at', 'clock', 'createdAt', 'placedAt']);

/** The content of a world, without ids and times: by path, how often each value is there. */
export type Content = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Counts the members of every list, and every other value. */
export function contentOf(world: unknown): Content {
  const content = new Map<string, Map<string, number>>();
  const add = (path: string, value: unknown): void => {
    const item = JSON.stringify(steady(value)) ?? '';
    const counts = content.get(path) ?? new Map<string, number>();
    content.set(path, counts.set(item, (counts.get(item) ?? 0) + 1));
  };
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const member of value) add(path, member);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (!VARYING.has(name)) visit(member, path === '' ? name : `${path}.${name}`);
      }
    } else add(path, value);
  };
  visit(world, '');
  return content;
}

/** The value without ids and times, its names in order. */
function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !VARYING.has(name));
  return Object.fromEntries(
    members.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, member]) => [name, steady(member)]),
  );
}

/** What two runs left alike: exact values by path; only their number where the values differ; null where that does too. */
export type Baseline = ReadonlyMap<string, ReadonlyMap<string, number> | number | null>;

const NOTHING: ReadonlyMap<string, number> = new Map();
const totalOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

export function baselineOf(one: Content, other: Content): Baseline {
  return new Map(
    [...new Set([...one.keys(), ...other.keys()])].map(
      (path): [string, ReadonlyMap<string, number> | number | null] => {
        const [first, second] = [one.get(path) ?? NOTHING, other.get(path) ?? NOTHING];
        const isSame = first.size === second.size && [...first].every(([item, count]) => second.get(item) === count);
        if (isSame) return [path, first];
        return [path, totalOf(first) === totalOf(second) ? totalOf(first) : null];
      },
    ),
  );
}

const TOLD_MAX = 160;

function told(count: number, usual: number, path: string, item?: string): string {
  const what = item === undefined ? '' : `: ${item.length > TOLD_MAX ? `${item.slice(0, TOLD_MAX)}…` : item}`;
  return `The world differs: ${count} instead of ${usual} of ${path}${what}.`;
}

/** The first difference of a world from those after the runs without faults, in a sentence; null without one. */
export function differenceOf(calm: Baseline, found: Content): string | null {
  for (const path of new Set([...found.keys(), ...calm.keys()])) {
    const counts = found.get(path) ?? NOTHING;
    const usual = calm.has(path) ? calm.get(path) : NOTHING;
    if (typeof usual === 'number' && totalOf(counts) !== usual) return told(totalOf(counts), usual, path);
    if (typeof usual !== 'object' || usual === null) continue;
    // What is too much says more than what is missing.
    const items = [...new Set([...counts.keys(), ...usual.keys()])];
    for (const item of items) {
      const [count, before] = [counts.get(item) ?? 0, usual.get(item) ?? 0];
      if (count !== before) return told(count, before, path, item);
    }
  }
  return null;
}

/** The first value that there is more than once, and more often than usual; null without one. */
export function repetitionIn(calm: Baseline, found: Content): string | null {
  for (const [path, counts] of found) {
    const usual = calm.get(path) ?? NOTHING;
    if (typeof usual !== 'object') continue;
    for (const [item, count] of counts) {
      const before = usual.get(item) ?? 0;
      if (count > Math.max(1, before)) return told(count, before, path, item);
    }
  }
  return null;
}
