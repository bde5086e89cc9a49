import { posixPrintf, posixWord, UNPRINTABLE } from '../../main/base/shell.ts';
import type { HeaderField, ReceivedResponse, SentRequest } from '../../main/contract/api.ts';

/** A request that can be sent again from elsewhere. Where it has a secret, `$VIVARIUM_KEY` stands for it. */
export interface CopiedRequest {
  method: string;
  url: string;
  /** Without what every client adds by itself. */
  headers: readonly HeaderField[];
  body: string | undefined;
  /** A body that is no text, in base64; in place of `body`. */
  bytes?: string | undefined;
  authorized: boolean;
}

/** What a path has that clients take as a way instead of sending it: `/a/../b` (RFC 3986, section 5.2.4). */
export const hasDotSegments = (url: string): boolean => /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i.test(url);

const hasType = (headers: readonly HeaderField[]): boolean =>
  headers.some(({ name }) => name.toLowerCase() === 'content-type');

/**
 * For a POSIX shell in which `$VIVARIUM_KEY` is set; it runs curl, and nothing that stands in the request. `options`: more of
 * curl's own, ready for the shell.
 */
export function asCurl(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  options: readonly string[] = [],
): string {
  const source = sourceOf({ body, bytes });
  const data =
    source !== undefined ? ['--data-binary @-'] : body === undefined ? [] : [`--data-raw ${posixWord(body)}`];
  const words = [
    ...options,
    // Brackets and braces would be patterns of several addresses.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(hasDotSegments(url) ? ['--path-as-is'] : []),
    // Otherwise curl writes bytes beyond ASCII as %XX, and leaves out what is behind #.
    ...(/[^\x21-\x7e]|#/.test(url) ? [`--request-target ${posixWord(octets(targetOf(url)))}`] : []),
    ...(method === 'HEAD' && data.length === 0
      ? ['-I']
      : method === 'GET' && data.length === 0
        ? []
        : [`-X ${posixWord(method)}`]),
    // In double quotes, so that the shell puts the secret in.
    ...(authorized ? ['-H "Authorization: Bearer $VIVARIUM_KEY"'] : []),
    ...headers.map(({ name, value }) => `-H ${posixWord(octets(value === '' ? `${name};` : `${name}: ${value}`))}`),
    // Where there was none, curl would give data a type of its own.
    ...(data.length > 0 && !hasType(headers) ? ["-H 'Content-Type:'"] : []),
    ...data,
    posixWord(octets(url)),
  ];
  return `${source === undefined ? '' : `${source} | `}curl ${words.join(' \\\n  ')}`;
}

/** The command that writes a body that no word can hold: bytes, NUL, line ends at the very end. */
function sourceOf({ body, bytes }: Pick<CopiedRequest, 'body' | 'bytes'>): string | undefined {
  if (bytes !== undefined) return `printf %s ${posixWord(bytes)} | base64 -d`;
  return body !== undefined && /\p{C}/u.test(body) ? posixPrintf(body) : undefined;
}

/** Address and fields as they were on the wire: Node gives and takes each byte as one character. */
const octets = (text: string): Uint8Array | string =>
  /^[\0-\xff]*$/.test(text) ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : text;

/** For Node, with `VIVARIUM_KEY` in the environment. The body is a text, so that its int64 values stay exact. */
export function asFetch({ method, url, headers, body, bytes, authorized }: CopiedRequest): string {
  const data = takesBody(method) ? bodyInCode({ headers, body, bytes }) : undefined;
  const fields = [
    ...(authorized ? ['Authorization: `Bearer ${process.env.VIVARIUM_KEY}`'] : []),
    ...headers.map(({ name, value }) => `${nameInCode(name)}: ${literal(value)}`),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(fields.length === 0 ? [] : [`headers: {\n${fields.map((field) => `    ${field},\n`).join('')}  }`]),
    ...(data === undefined ? [] : [`body: ${data}`]),
  ];
  const second = options.length === 0 ? '' : `, {\n${options.map((option) => `  ${option},\n`).join('')}}`;
  return `const response = await fetch(${literal(url)}${second});`;
}

/** `fetch` sends no body with the others. */
export const takesBody = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function bodyInCode({ headers, body, bytes }: Pick<CopiedRequest, 'headers' | 'body' | 'bytes'>): string | undefined {
  if (bytes !== undefined) return `Buffer.from(${literal(bytes)}, 'base64')`;
  if (body === undefined) return undefined;
  // Where there was none, fetch would give a text a type of its own.
  return hasType(headers) ? literal(body) : `Buffer.from(${literal(body)})`;
}

/** A string of JavaScript, in single quotes as people write them. Pasted into Node's own prompt, a DEL would erase code. */
const literal = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)
    .replaceAll(new RegExp(UNPRINTABLE, 'gu'), unicodeEscape)}'`;

const unicodeEscape = (character: string): string =>
  Array.from({ length: character.length }, (_, unit) => character.charCodeAt(unit))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

const nameInCode = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/** A request as it was on the wire. */
export const requestText = ({ method, url, headers, body }: SentRequest): string =>
  message(`${method} ${targetOf(url)} HTTP/1.1`, headers, body ?? '');

const targetOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '');

/** A response as it was on the wire. */
export const responseText = ({ httpVersion, status, reason, headers, body }: ReceivedResponse): string =>
  message(`HTTP/${httpVersion} ${status} ${reason}`.trimEnd(), headers, body);

const message = (first: string, headers: readonly HeaderField[], body: string): string =>
  [first, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body].join('\n').trimEnd();
