import { orElse } from '../contract/errors.ts';
import { type Answer, noContent } from '../base/http/answer.ts';
import { LruMap } from '../base/lru.ts';
import { problemAnswer } from '../model/problem.ts';
import { failure } from './failures.ts';
import type { Endpoint, Sent } from './operation.ts';
import { BASE_PATH, baseUrlAt, DOCUMENT_PATH } from './operations.ts';

/** The result of routing: an operation, the OpenAPI document, or an error answer. */
export type Found =
  | { kind: 'operation'; operation: Endpoint; sent: Omit<Sent, 'body'> }
  | { kind: 'document' }
  | { kind: 'none'; answer: Answer };

/** One path of the API, with its methods; null is the OpenAPI document. */
interface PathEntry {
  segments: readonly string[];
  /** Where the parameters are among the segments. */
  parameters: readonly { name: string; at: number }[];
  methods: Map<string, Endpoint | null>;
  allow: string;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};
const DOCUMENT: Found = { kind: 'document' };

/** How many targets are remembered with their operation; clients use only a few different ones. */
const TARGETS_REMEMBERED_MAX = 256;

/** Longer targets are read every time, which bounds the memory. */
const TARGET_LENGTH_REMEMBERED_MAX = 256;

/** Longer paths are truncated in messages. */
const PATH_SHOWN_LENGTH_MAX = 120;

export function createRoutes(operations: readonly Endpoint[]) {
  const entries = new Map<string, PathEntry>();
  const add = (method: string, path: string, leadsTo: Endpoint | null): void => {
    const full = BASE_PATH + path;
    const segments = full.split('/');
    const parameters = segments.flatMap((part, at) => (isParameter(part) ? [{ name: part.slice(1, -1), at }] : []));
    const entry = entries.get(full) ?? { segments, parameters, methods: new Map(), allow: '' };
    for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) entry.methods.set(each, leadsTo);
    entry.allow = allowValue(entry.methods.keys());
    entries.set(full, entry);
  };
  for (const operation of operations) add(operation.method, operation.path, operation);
  add('GET', DOCUMENT_PATH, null);
  const all = [...entries.values()];
  const allMethods = allowValue(all.flatMap(({ methods }) => [...methods.keys()]));

  const entryOf = (segments: readonly string[]): PathEntry | undefined =>
    all.find((entry) => matches(entry.segments, segments));

  /** A known path similar to the requested one. */
  const near = (path: string): string | null => {
    const tidy = tidied(path);
    const known = (candidate: string): boolean => entryOf(decoded(candidate) ?? []) !== undefined;
    if (known(tidy)) return tidy;
    return known(BASE_PATH + tidy) ? BASE_PATH + tidy : null;
  };

  function notFound(path: string, origin: string): Answer {
    const baseUrl = baseUrlAt(origin);
    const suggestion = near(path);
    const inside = path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
    const hint =
      suggestion !== null
        ? `did you mean ${origin}${shown(suggestion)}?`
        : inside
          ? `${baseUrl}${DOCUMENT_PATH} describes what there is.`
          : `the base address of the API is ${baseUrl}`;
    return problemAnswer(failure('not_found', `There is nothing at ${shown(path)}; ${hint}`));
  }

  const remembered = new LruMap<Found>(TARGETS_REMEMBERED_MAX);

  return {
    /**
     * Routes a method and a target in origin form: 400 for a malformed path, 404 for an unknown path, 405 for an
     * unsupported method, 204 for OPTIONS. HEAD is supported wherever GET is.
     */
    find(method: string, target: string, origin: string): Found {
      const key = `${method} ${target}`;
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const [path, query] = splitTarget(target);
      const segments = decoded(path);
      if (segments === null) return { kind: 'none', answer: MALFORMED_PATH };
      const entry = entries.get(path) ?? entryOf(segments);
      if (entry === undefined) return { kind: 'none', answer: notFound(path, origin) };
      const operation = entry.methods.get(method);
      if (operation === null) return DOCUMENT;
      if (operation !== undefined) {
        const found: Found = { kind: 'operation', operation, sent: { query, params: paramsOf(entry, segments) } };
        if (target.length <= TARGET_LENGTH_REMEMBERED_MAX) remembered.set(key, found);
        return found;
      }
      if (method === 'OPTIONS') return { kind: 'none', answer: noContent(['Allow', entry.allow]) };
      const message = `${shown(path)} has no method ${method}; it has ${entry.allow}.`;
      const refused = failure('method_not_allowed', message, ['Allow', entry.allow]);
      return { kind: 'none', answer: problemAnswer(refused) };
    },
    /** The Allow value of a target's path; for an unknown path, of all paths together. */
    methodsAt: (target: string): string => entryOf(decoded(splitTarget(target)[0]) ?? [])?.allow ?? allMethods,
  };
}

/** Without doubled or trailing slashes, and in lower case. */
const tidied = (path: string): string =>
  path
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '')
    .toLowerCase();

const MALFORMED_PATH = problemAnswer(
  failure(
    'invalid_request',
    'The path has a malformed percent-encoding; write % itself as %25, and other characters as UTF-8.',
  ),
);

const allowValue = (methods: Iterable<string>): string => [...new Set([...methods, 'OPTIONS'])].join(', ');

function splitTarget(target: string): [path: string, query: string] {
  const end = target.search(/[?#]/);
  return end < 0 ? [target, ''] : [target.slice(0, end), target.slice(end + 1)];
}

/**
 * The decoded segments of a path: `%70ets` is `pets` (RFC 3986 §6.2.2.2), and an encoded slash remains part of its
 * segment. Null if a percent-encoding is malformed or is not UTF-8.
 */
function decoded(path: string): readonly string[] | null {
  const segments = path.split('/');
  if (!path.includes('%')) return segments;
  return orElse(() => segments.map(decodeURIComponent), null);
}

const isParameter = (segment: string): boolean => segment.startsWith('{');

function matches(template: readonly string[], segments: readonly string[]): boolean {
  if (template.length !== segments.length) return false;
  return template.every((part, index) => (isParameter(part) ? segments[index] !== '' : part === segments[index]));
}

function paramsOf({ parameters }: PathEntry, segments: readonly string[]): Readonly<Record<string, string>> {
  if (parameters.length === 0) return NO_PARAMS;
  const params: Record<string, string> = {};
  for (const { name, at } of parameters) params[name] = segments[at] ?? '';
  return params;
}

const shown = (path: string): string =>
  path.length <= PATH_SHOWN_LENGTH_MAX ? path : `${path.slice(0, PATH_SHOWN_LENGTH_MAX)}…`;
