import { posixPrintf, posixWord, UNPRINTABLE } from '../../main/base/shell.ts';
import type { HeaderField, ReceivedResponse, SentRequest } from '../../main/contract/api.ts';

/** A request to send from elsewhere. `$VIVARIUM_KEY` replaces its secret. */
export interface CopiedRequest {
  method: string;
  url: string;
  /** Without the headers that every client adds. */
  headers: readonly HeaderField[];
  body: string | undefined;
  /** A binary body in base64, instead of `body`. */
  bytes?: string | undefined;
  authorized: boolean;
}

/** Path segments that clients resolve before sending: `/a/../b` (RFC 3986, section 5.2.4). */
export const hasDotSegments = (url: string): boolean => /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i.test(url);

const hasType = (headers: readonly HeaderField[]): boolean =>
  headers.some(({ name }) => name.toLowerCase() === 'content-type');

/**
 * For a POSIX shell with `$VIVARIUM_KEY` set; runs curl and quotes everything from the request. `options`: further curl
 * options, already quoted.
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
    // curl treats brackets and braces as URL patterns.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(hasDotSegments(url) ? ['--path-as-is'] : []),
    // Otherwise curl percent-encodes non-ASCII bytes and drops everything after #.
    ...(/[^\x21-\x7e]|#/.test(url) ? [`--request-target ${posixWord(octets(targetOf(url)))}`] : []),
    ...(method === 'HEAD' && data.length === 0
      ? ['-I']
      : method === 'GET' && data.length === 0
        ? []
        : [`-X ${posixWord(method)}`]),
    // In double quotes, so the shell expands the secret.
    ...(authorized ? ['-H "Authorization: Bearer $VIVARIUM_KEY"'] : []),
    ...headers.map(({ name, value }) => `-H ${posixWord(octets(value === '' ? `${name};` : `${name}: ${value}`))}`),
    // Without a Content-Type, curl would add its own.
    ...(data.length > 0 && !hasType(headers) ? ["-H 'Content-Type:'"] : []),
    ...data,
    posixWord(octets(url)),
  ];
  return `${source === undefined ? '' : `${source} | `}curl ${words.join(' \\\n  ')}`;
}

/** The command that writes a body that a shell word can't represent: binary data, NUL, trailing line breaks. */
function sourceOf({ body, bytes }: Pick<CopiedRequest, 'body' | 'bytes'>): string | undefined {
  if (bytes !== undefined) return `printf %s ${posixWord(bytes)} | base64 -d`;
  return body !== undefined && /\p{C}/u.test(body) ? posixPrintf(body) : undefined;
}

/** Target and headers as sent on the wire: Node represents each byte as one character. */
const octets = (text: string): Uint8Array | string =>
  /^[\0-\xff]*$/.test(text) ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : text;

/** For Node, with `VIVARIUM_KEY` in the environment. The body is a string, which keeps int64 values exact. */
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

/**
 * For Python's standard library, with `VIVARIUM_KEY` in the environment. `caFile`: the root of an HTTPS address. Answers
 * with 4xx and 5xx are raised as `HTTPError`.
 */
export function asPython(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  { caFile }: { caFile?: string | undefined } = {},
): string {
  const fields = [
    ...(authorized ? [`"Authorization": f"Bearer {os.environ['VIVARIUM_KEY']}"`] : []),
    ...headers.map(({ name, value }) => `${inPython(name)}: ${inPython(value)}`),
  ];
  const data =
    bytes !== undefined
      ? `base64.b64decode(${inPython(bytes)})`
      : body === undefined
        ? undefined
        : `${inPython(body)}.encode()`;
  const modules = [
    ...(bytes === undefined ? [] : ['base64']),
    ...(authorized ? ['os'] : []),
    ...(caFile === undefined ? [] : ['ssl']),
    'urllib.request',
  ];
  const options = [
    inPython(url),
    `method=${inPython(method)}`,
    ...(fields.length === 0 ? [] : [`headers={${fields.map((field) => `\n        ${field},`).join('')}\n    }`]),
    ...(data === undefined ? [] : [`data=${data}`]),
  ];
  const context = caFile === undefined ? '' : `, context=ssl.create_default_context(cafile=${inPython(caFile)})`;
  return [
    ...modules.map((name) => `import ${name}`),
    '',
    `request = urllib.request.Request(${options.map((option) => `\n    ${option},`).join('')}\n)`,
    `with urllib.request.urlopen(request${context}) as response:`,
    '    print(response.status, response.read())',
  ].join('\n');
}

/** A Python string. JSON's escapes are Python's, too; the others of a prompt or an editor are made the same way. */
const inPython = (text: string): string =>
  JSON.stringify(text).replaceAll(
    new RegExp(UNPRINTABLE, 'gu'),
    (character) => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  );

/** `fetch` sends no body with other methods. */
export const takesBody = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function bodyInCode({ headers, body, bytes }: Pick<CopiedRequest, 'headers' | 'body' | 'bytes'>): string | undefined {
  if (bytes !== undefined) return `Buffer.from(${literal(bytes)}, 'base64')`;
  if (body === undefined) return undefined;
  // Without a Content-Type, fetch would add one for a string.
  return hasType(headers) ? literal(body) : `Buffer.from(${literal(body)})`;
}

/** A JavaScript string in single quotes. DEL is escaped because Node's prompt treats it as backspace. */
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

/** A request as sent on the wire. */
export const requestText = ({ method, url, headers, body }: SentRequest): string =>
  message(`${method} ${targetOf(url)} HTTP/1.1`, headers, body ?? '');

const targetOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '');

/** A response as sent on the wire. */
export const responseText = ({ httpVersion, status, reason, headers, body }: ReceivedResponse): string =>
  message(`HTTP/${httpVersion} ${status} ${reason}`.trimEnd(), headers, body);

const message = (first: string, headers: readonly HeaderField[], body: string): string =>
  [first, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body].join('\n').trimEnd();
