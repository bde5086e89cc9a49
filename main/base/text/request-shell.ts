import type { HeaderField } from '../../contract/api.ts';
import { posixPrintf, posixWord, powerShellString } from './shell.ts';

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
  /** The secret itself, in place of its variable; for curl. */
  secret?: string | undefined;
}

/**
 * Fields that the sender of a request sets itself: host, framing and connection (RFC 9110 §7.6.1, RFC 9112 §6), in
 * lower case.
 */
export const SENDER_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Path segments that clients resolve before sending: `/a/../b` (RFC 3986, section 5.2.4). */
export const hasDotSegments = (url: string): boolean => /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i.test(url);

export const hasType = (headers: readonly HeaderField[]): boolean =>
  headers.some(({ name }) => name.toLowerCase() === 'content-type');

/**
 * For a POSIX shell with `$VIVARIUM_KEY` set; runs curl and quotes everything from the request. `options`: further curl
 * options, already quoted.
 */
export function asCurl(
  { method, url, headers, body, bytes, authorized, secret = '$VIVARIUM_KEY' }: CopiedRequest,
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
    ...(authorized ? [`-H "Authorization: Bearer ${secret}"`] : []),
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

/** Target and headers as on the wire: Node represents each byte as one character. */
const octets = (text: string): Uint8Array | string =>
  /^[\0-\xff]*$/.test(text) ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : text;

export const targetOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '');

/**
 * For a POSIX shell with `$VIVARIUM_KEY` set and HTTPie 3. Goes through the proxy, because HTTPie can't be given the
 * address of a hostname; so `url` has its scheme's port. `caFile`: the root of an HTTPS address.
 */
export function asHttpie(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  { proxyUrl, caFile }: { proxyUrl: string; caFile: string | undefined },
): string {
  // HTTPie takes any other first word for an option or the URL, to which it would send the key.
  if (!/^[A-Za-z]+$/.test(method)) return "echo 'HTTPie sends only methods of letters. Use curl.'";
  const source = sourceOf({ body, bytes });
  const hasBody = body !== undefined || bytes !== undefined;
  const words = [
    `${source === undefined ? '--ignore-stdin ' : ''}--proxy=${new URL(url).protocol}${posixWord(proxyUrl)}`,
    ...(caFile === undefined ? [] : [`--verify=${posixWord(caFile)}`]),
    ...(hasDotSegments(url) ? ['--path-as-is'] : []),
    ...(source === undefined && body !== undefined ? [`--raw=${posixWord(body)}`] : []),
    `--print=hb ${method} ${posixWord(octets(url))}`,
    ...(authorized ? ['"Authorization:Bearer $VIVARIUM_KEY"'] : []),
    ...headers.map(({ name, value }) => posixWord(octets(httpieField(name, value)))),
    // HTTPie sends JSON's type with every body.
    ...(hasBody && !hasType(headers) ? ['Content-Type:'] : []),
  ];
  return `${source === undefined ? '' : `${source} | `}http ${words.join(' \\\n  ')}`;
}

/** `Name:=…` and `Name:@…` would be JSON and a file, and `Name:` would remove the field. */
const httpieField = (name: string, value: string): string =>
  value === '' ? `${name};` : `${name}:${value.replace(/^[=@]/, String.raw`\$&`)}`;

/**
 * For PowerShell with `$env:VIVARIUM_KEY` set; runs the curl of Windows. `options`: further curl options, already
 * quoted. The body goes through a file, because PowerShell passes only text to programs.
 */
export function asPowerShell(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  options: readonly string[] = [],
): string {
  const content =
    bytes !== undefined
      ? `[Convert]::FromBase64String(${powerShellString(bytes)})`
      : body === undefined
        ? undefined
        : `[Text.Encoding]::UTF8.GetBytes(${powerShellString(body)})`;
  const words = [
    "curl.exe --include --noproxy '*'",
    ...options,
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(hasDotSegments(url) ? ['--path-as-is'] : []),
    ...(method === 'HEAD' && content === undefined
      ? ['--head']
      : method === 'GET' && content === undefined
        ? []
        : [`-X ${powerShellString(method)}`]),
    ...(authorized ? ['-H "Authorization: Bearer $env:VIVARIUM_KEY"'] : []),
    ...headers.map(({ name, value }) => `-H ${powerShellString(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(content !== undefined && !hasType(headers) ? ["-H 'Content-Type:'"] : []),
    ...(content === undefined ? [] : ['--data-binary "@$body"']),
    powerShellString(url),
  ];
  const command = words.join(' `\n  ');
  return content === undefined
    ? command
    : ['$body = New-TemporaryFile', `[IO.File]::WriteAllBytes($body, ${content})`, command].join('\n');
}
