import { fillVariables } from '../../../../main/contract/http-file.ts';
import type { ApiParameter, SchemaView } from '../api-document.ts';
import { readExactly, writeExactly } from '../exact-values.ts';
import { targetOf } from '../../../../main/base/text/shell.ts';
import type { HeaderField, ReceivedResponse, SentRequest } from '../../../../main/contract/api.ts';

/** A request without its target and credentials. */
export interface TrialRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface TrialInput {
  /** By location and name, `query limit`; empty values are not sent. */
  parameters: Readonly<Record<string, string>>;
  /** JSON text; undefined without a body. */
  body: string | undefined;
  mediaType: string;
  /** Additional headers, one per line: `Accept: application/json`. */
  headers: string;
}

export const parameterKey = ({ in: place, name }: Pick<ApiParameter, 'in' | 'name'>): string => `${place} ${name}`;

/** A path template with its parameters filled in, and the query: `/pets/7?status=sold`. */
export function fillPath(
  template: string,
  parameters: readonly ApiParameter[],
  typed: TrialInput['parameters'],
): string {
  const valueOf = (parameter: ApiParameter) => (typed[parameterKey(parameter)] ?? '').trim();
  const path = parameters
    .filter(({ in: place }) => place === 'path')
    .reduce(
      (text, parameter) => text.replaceAll(`{${parameter.name}}`, encodeURIComponent(valueOf(parameter))),
      template,
    );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && valueOf(parameter) !== '')
    .map((parameter) => `${encodeURIComponent(parameter.name)}=${encodeURIComponent(valueOf(parameter))}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** Names of header fields that carry credentials, in whole or in part. */
const SECRET = /auth|cookie|token|secret|password|api-?key|session/i;

/** Typed headers without those whose name suggests a secret. */
export const withoutSecrets = (headers: string): string =>
  headers
    .split('\n')
    .filter((line) => !SECRET.test(line.split(':', 1)[0] ?? ''))
    .join('\n');

/** The headers of a request: the body's type, the operation's, and the typed ones; the last wins. */
export function collectHeaders(parameters: readonly ApiParameter[], input: TrialInput): Record<string, string> {
  const own = parameters
    .filter(({ in: place }) => place === 'header')
    .map((parameter) => [parameter.name, (input.parameters[parameterKey(parameter)] ?? '').trim()] as const)
    .filter(([, value]) => value !== '');
  const typed = input.headers
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const colon = line.indexOf(':');
      // The engine refuses a line without a colon.
      return colon === -1
        ? ([line.trim(), ''] as const)
        : ([line.slice(0, colon), line.slice(colon + 1).trim()] as const);
    });
  const type = input.body === undefined ? [] : [['Content-Type', input.mediaType] as const];
  const byName = new Map([...type, ...own, ...typed].map((field) => [field[0].toLowerCase(), field]));
  return Object.fromEntries(byName.values());
}

/**
 * The JSON text of an object from typed members; empty ones are omitted. Numbers keep their digits; an invalid number
 * is sent as a string for the API to refuse.
 */
export function writeBody(properties: SchemaView['properties'], typed: Readonly<Record<string, string>>): string {
  const members = properties.flatMap(({ name, schema }) => {
    const text = typed[name] ?? '';
    return text === '' ? [] : [`  ${JSON.stringify(name)}: ${memberText(schema.type, text)}`];
  });
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`;
}

function memberText(type: string, text: string): string {
  const types = type.split(' or ');
  if (types.includes('string') && !(types.includes('null') && text === 'null')) return JSON.stringify(text);
  return readExactly(text) === undefined ? JSON.stringify(text) : text.trim();
}

/** The members of an example's JSON text as typed values; undefined if it is not an object. */
export function readMembers(example: string | undefined): Record<string, string> | undefined {
  const value = example === undefined ? undefined : readExactly(example);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, typeof member === 'string' ? member : writeExactly(member)]),
  );
}

/** A request with values in place of its variables, and the names of those that have none. */
export function fillRequest(
  request: TrialRequest,
  variables: Readonly<Record<string, string>>,
): { request: TrialRequest; missing: readonly string[] } {
  let missing: readonly string[] = [];
  const fill = (text: string): string => {
    const filled = fillVariables(text, variables);
    missing = [...missing, ...filled.missing.filter((name) => !missing.includes(name))];
    return filled.text;
  };
  const { body, headers, path } = request;
  const filled = {
    ...request,
    path: fill(path),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    ...(body !== undefined && { body: fill(body) }),
  };
  return { request: filled, missing };
}

/** A request as sent on the wire. */
export const requestText = ({ method, url, headers, body }: SentRequest): string =>
  message(`${method} ${targetOf(url)} HTTP/1.1`, headers, body ?? '');

/** A response as sent on the wire. */
export const responseText = ({ httpVersion, status, reason, headers, body }: ReceivedResponse): string =>
  message(`HTTP/${httpVersion} ${status} ${reason}`.trimEnd(), headers, body);

const message = (first: string, headers: readonly HeaderField[], body: string): string =>
  [first, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body].join('\n').trimEnd();
