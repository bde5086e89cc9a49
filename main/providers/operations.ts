import type { z } from 'zod';
import { orElse } from '../contract/errors.ts';
import type { Call, Operation, Provider, Refusal, Reply } from './provider.ts';

export const ok = (body: unknown, status = 200): Reply => ({ status, body });

/** An operation; `on` is its method and path. */
export function operation<Schema extends z.ZodType = z.ZodUndefined>(
  name: string,
  on: string,
  handle: (call: Call, body: z.infer<Schema>) => ReturnType<Operation['handle']>,
  more: Partial<Operation> & { input?: Schema } = {},
): Operation {
  const [method = '', path = ''] = on.split(' ');
  return { name, method, path, handle, ...more };
}

/** An operation that is counted and not emulated. */
export const missing = (name: string, on: string, why: string): Operation =>
  operation(name, on, () => ok(null, 501), { missing: why });

export const NO_UPLOAD = 'All certificates here are signed by Vivarium’s own root; one of another CA has no place.';

/** A refusal, thrown from anywhere in an operation. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function refuse(status: number, code: string, message: string, more: Refusal['more'] = {}): never {
  throw new Refused({ status, code, message, more });
}

/** A method and path, and where they lead. */
type Found =
  | { kind: 'operation'; operation: Operation; params: Readonly<Record<string, string>> }
  /** Not emulated; `name` is the method and path, of an operation that is counted its own. */
  | { kind: 'other'; name: string };

/** Longer paths are cut in messages. */
const PATH_LENGTH_MAX = 512;

export type FindOperation = (method: string, path: string) => Found;

/** Finds operations by method and path; of several, the one whose path has the fewest parameters. */
export function createOperations({ operations }: Pick<Provider, 'operations'>): FindOperation {
  const patterns = operations.map(patternOf).sort((one, other) => one.names.length - other.names.length);
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const { operation, pattern, names } of patterns) {
      const values = operation.method === wanted ? decode(pattern.exec(path)?.slice(1)) : null;
      if (values === null) continue;
      if (operation.missing !== undefined) return { kind: 'other', name: operation.name };
      const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
      return { kind: 'operation', operation, params };
    }
    return { kind: 'other', name: `${method} ${path.slice(0, PATH_LENGTH_MAX)}` };
  };
}

function patternOf(operation: Operation): { operation: Operation; pattern: RegExp; names: readonly string[] } {
  const names: string[] = [];
  const segments = operation.path.split('/').map((segment) => {
    if (/^v\d+$/.test(segment)) return String.raw`v\d{1,3}`;
    if (!segment.startsWith('{')) return segment.replaceAll('.', String.raw`\.`);
    names.push(segment.slice(1, -1));
    return '([^/]+)';
  });
  return { operation, pattern: new RegExp(`^${segments.join('/')}/?$`), names };
}

/** Null for no values, and for a malformed percent-encoding. */
const decode = (values: readonly string[] | undefined): string[] | null =>
  orElse(() => values?.map(decodeURIComponent) ?? null, null);
