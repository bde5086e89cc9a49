import type { Operation, Provider } from './provider.ts';

/** A method and path, and where they lead. */
type Found =
  | { kind: 'operation'; operation: Operation; params: Readonly<Record<string, string>> }
  /** Not emulated; `name` is that of the specification, else the method and path. */
  | { kind: 'other'; name: string };

interface Pattern<Leads> {
  method: string;
  path: RegExp;
  names: readonly string[];
  leads: Leads;
}

/** Longer paths are not looked up among what is not emulated, and are cut in messages. */
const PATH_LENGTH_MAX = 512;

export type FindOperation = (method: string, path: string) => Found;

/** Finds operations by method and path; of several, the one whose path has the fewest parameters. */
export function createOperations({ operations, others }: Pick<Provider, 'operations' | 'others'>): FindOperation {
  const emulated = operations.map((operation) => patternOf(operation.method, operation.path, operation)).sort(byNames);
  let rest: readonly Pattern<string>[] | null = null;
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const own = match(emulated, wanted, path);
    if (own?.leads.missing !== undefined) return { kind: 'other', name: own.leads.name };
    if (own !== null) return { kind: 'operation', operation: own.leads, params: own.params };
    rest ??= readOthers(others);
    const other = path.length > PATH_LENGTH_MAX ? null : match(rest, wanted, path);
    return { kind: 'other', name: other?.leads ?? `${method} ${path.slice(0, PATH_LENGTH_MAX)}` };
  };
}

/** The names of a specification's other operations. */
export const readOthers = (others: string): Pattern<string>[] =>
  others
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const [method = '', path = '', name = ''] = each.split(' ');
      return patternOf(method, path, name);
    })
    .sort(byNames);

const byNames = (one: Pattern<unknown>, other: Pattern<unknown>): number => one.names.length - other.names.length;

function patternOf<Leads>(method: string, path: string, leads: Leads): Pattern<Leads> {
  const names: string[] = [];
  const segments = path.split('/').map((segment) => {
    if (/^v\d+$/.test(segment)) return String.raw`v\d{1,3}`;
    if (!segment.startsWith('{')) return segment.replaceAll('.', String.raw`\.`);
    names.push(segment.slice(1, -1));
    return '([^/]+)';
  });
  return { method, path: new RegExp(`^${segments.join('/')}/?$`), names, leads };
}

function match<Leads>(
  patterns: readonly Pattern<Leads>[],
  method: string,
  path: string,
): { leads: Leads; params: Record<string, string> } | null {
  for (const { method: own, path: pattern, names, leads } of patterns) {
    const values = own === method ? pattern.exec(path) : null;
    if (values === null) continue;
    const decoded = decode(values.slice(1));
    if (decoded === null) continue;
    return { leads, params: Object.fromEntries(names.map((name, index) => [name, decoded[index] ?? ''])) };
  }
  return null;
}

/** Null for a malformed percent-encoding. */
function decode(values: readonly string[]): string[] | null {
  try {
    return values.map(decodeURIComponent);
  } catch {
    return null;
  }
}
