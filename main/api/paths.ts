import { failure, noContent, type Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { BASE_PATH, DOCUMENT_PATH } from './operations.ts';

interface Template {
  path: string;
  segments: readonly string[];
  methods: readonly string[];
}

/** Paths in messages are cut at this length. */
const PATH_SHOWN_LENGTH_MAX = 120;

/** Which methods the API has at which paths: for all that is not an operation. */
export interface Paths {
  /** The Allow value of the request's path, or of all paths together where there is nothing. */
  methodsFor(target: string): string;
  /** 404 for a path, 405 for a method that isn't there; 204 for a plain OPTIONS. */
  unrouted(exchange: Exchange): Answer;
}

export function createPaths(operations: readonly { method: string; path: string }[]): Paths {
  const templates = new Map<string, Template>();
  for (const { method, path } of operations) {
    const full = BASE_PATH + path;
    const known = templates.get(full)?.methods ?? [];
    const methods = [...known, ...(method === 'GET' ? ['GET', 'HEAD'] : [method])];
    templates.set(full, { path: full, segments: full.split('/'), methods });
  }
  const all = [...templates.values()];
  const allMethods = allowValue(all.flatMap(({ methods }) => methods));

  const find = (target: string): Template | undefined => {
    const segments = pathOf(target).split('/').map(decoded);
    return all.find((template) => matches(template, segments));
  };

  /** A known path that the request may have meant: without doubled or trailing slashes, or in lower case. */
  const near = (target: string): string | null => {
    const tidy = pathOf(target)
      .replace(/\/{2,}/g, '/')
      .replace(/(?<=.)\/$/, '')
      .toLowerCase();
    if (find(tidy) !== undefined) return tidy;
    return find(BASE_PATH + tidy) === undefined ? null : BASE_PATH + tidy;
  };

  function notFound({ request, context: { baseUrl } }: Exchange): Answer {
    const target = request.url ?? '';
    const origin = baseUrl.slice(0, baseUrl.length - BASE_PATH.length);
    const suggestion = near(target);
    const path = pathOf(target);
    const inside = path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
    const hint =
      suggestion !== null
        ? `did you mean ${origin}${shown(suggestion)}?`
        : inside
          ? `${baseUrl}${DOCUMENT_PATH} describes what there is.`
          : `the base address of the API is ${baseUrl}`;
    return failure('not_found', `There is nothing at ${shown(path)}; ${hint}`);
  }

  return {
    methodsFor: (target) => {
      const template = find(target);
      return template === undefined ? allMethods : allowValue(template.methods);
    },
    unrouted(exchange) {
      const { method = '', url = '' } = exchange.request;
      const template = find(url);
      if (template === undefined) return notFound(exchange);
      const allow = allowValue(template.methods);
      if (method === 'OPTIONS') return noContent(['Allow', allow]);
      return failure('method_not_allowed', `${shown(pathOf(url))} has no method ${method}; it has ${allow}.`, [
        'Allow',
        allow,
      ]);
    },
  };
}

function allowValue(methods: readonly string[]): string {
  return [...new Set([...methods, 'OPTIONS'])].join(', ');
}

/** The path of a request target, without query. */
function pathOf(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? '';
}

/** `%70ets` is `pets` (RFC 3986 §6.2.2.2); an encoded slash stays inside its segment. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function matches({ segments }: Template, path: readonly string[]): boolean {
  if (segments.length !== path.length) return false;
  return segments.every((segment, index) => (segment.startsWith('{') ? path[index] !== '' : segment === path[index]));
}

function shown(path: string): string {
  return path.length <= PATH_SHOWN_LENGTH_MAX ? path : `${path.slice(0, PATH_SHOWN_LENGTH_MAX)}…`;
}
