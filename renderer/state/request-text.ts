import type { HeaderField, ReceivedResponse, SentRequest } from '../../main/contract/api.ts';
import { quote } from './first-request.ts';

/** A request that can be sent again from elsewhere. Where it has a secret, `$VIVARIUM_KEY` stands for it. */
export interface CopiedRequest {
  method: string;
  url: string;
  /** Without what every client adds by itself. */
  headers: readonly HeaderField[];
  body: string | undefined;
  authorized: boolean;
}

/** For a POSIX shell in which `$VIVARIUM_KEY` is set. `options`: more of curl's own, ready for the shell. */
export function asCurl(
  { method, url, headers, body, authorized }: CopiedRequest,
  options: readonly string[] = [],
): string {
  const words = [
    ...options,
    ...(method === 'HEAD' ? ['-I'] : method === 'GET' && body === undefined ? [] : [`-X ${method}`]),
    // In double quotes, so that the shell puts the secret in.
    ...(authorized ? ['-H "Authorization: Bearer $VIVARIUM_KEY"'] : []),
    ...headers.map(({ name, value }) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
    quote(url),
  ];
  return `curl ${words.join(' \\\n  ')}`;
}

/** For Node, with `VIVARIUM_KEY` in the environment. The body is a text, so that its int64 values stay exact. */
export function asFetch({ method, url, headers, body, authorized }: CopiedRequest): string {
  const fields = [
    ...(authorized ? ['Authorization: `Bearer ${process.env.VIVARIUM_KEY}`'] : []),
    ...headers.map(({ name, value }) => `${nameInCode(name)}: ${literal(value)}`),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(fields.length === 0 ? [] : [`headers: {\n${fields.map((field) => `    ${field},\n`).join('')}  }`]),
    ...(body === undefined ? [] : [`body: ${literal(body)}`]),
  ];
  const second = options.length === 0 ? '' : `, {\n${options.map((option) => `  ${option},\n`).join('')}}`;
  return `const response = await fetch(${literal(url)}${second});`;
}

/** A string of JavaScript, in single quotes as people write them. */
const literal = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`;

const nameInCode = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/** A request as it was on the wire. */
export const requestText = ({ method, url, headers, body }: SentRequest): string =>
  message(`${method} ${url.replace(/^https?:\/\/[^/]+/, '')} HTTP/1.1`, headers, body ?? '');

/** A response as it was on the wire. */
export const responseText = ({ httpVersion, status, reason, headers, body }: ReceivedResponse): string =>
  message(`HTTP/${httpVersion} ${status} ${reason}`.trimEnd(), headers, body);

const message = (first: string, headers: readonly HeaderField[], body: string): string =>
  [first, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body].join('\n').trimEnd();
