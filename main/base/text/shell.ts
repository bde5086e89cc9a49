import type { HeaderField } from '../../contract/api.ts';

/**
 * Quotes words of shell commands for pasting. A quoted word is always literal, in a script and in an interactive shell,
 * because some contain text from untrusted clients.
 *
 * Quoting does not protect from the terminal: `^C` ends the line, and the rest becomes a command of its own
 * (termios(3), ISIG); Tab completes; after a line end in quotes, bash expands history again; `ESC [ 201 ~` ends a
 * bracketed paste. So such characters are always escaped.
 */

/**
 * Control and invisible characters (`^C`, ESC, DEL, C1, bidi controls), line and paragraph separators, lone surrogates.
 */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** PowerShell treats all of them as single quotation marks (language specification, section 2.3.5.2). */
const SINGLE_QUOTES = "'‘’‚‛";

/** No leading `=` or `%`: zsh expands the first to a path, other shells the second to a job. */
const PLAIN_IN_POSIX = /^[\w@+:,./-][\w@%+=:,./-]*$/;
const PLAIN_IN_WINDOWS = /^[\w:./\\-]+$/;

/**
 * In canonical mode, which dash uses, terminals truncate lines over 4,096 bytes on Linux and 1,024 on macOS
 * (MAX_CANON), including the closing quotation mark.
 */
const LINE_BYTES_MAX = 800;

/**
 * Quotes one word for sh, dash, bash, zsh, and fish from 3.4 on. Drops NUL and trailing line ends: arguments cannot
 * contain NUL, and `$(…)` strips line ends.
 *
 * Single quotes preserve everything except themselves (POSIX.1-2024, XCU, section 2.2.2). Written outside of them:
 * backslashes that fish would read as an escape (The fish language, Quotes); `!`, because old versions of bash miscount
 * quotation marks in history expansion (Bash Reference Manual, section 9.3); and PowerShell's string terminators, in
 * case the word is pasted there by mistake.
 */
export function posixWord(text: string | Uint8Array): string {
  if (typeof text !== 'string') {
    const decoded = decode(text);
    return decoded === undefined ? `"$(${posixPrintf(text)})"` : posixWord(decoded);
  }
  if (UNPRINTABLE.test(text)) return `"$(${posixPrintf(text)})"`;
  if (PLAIN_IN_POSIX.test(text) && text.length <= LINE_BYTES_MAX) return text;
  const units = text.match(/\\(?![\\!'‘’‚‛]|$)[^]|[^]/gu) ?? [];
  return inLines(units.map((unit) => ({ unit, bare: bareInPosix(unit) })));
}

/**
 * A printf command that outputs the text or bytes with escapes (POSIX.1-2024, XCU, printf), for content that no word
 * can hold. Text is encoded in UTF-8.
 */
export function posixPrintf(text: string | Uint8Array): string {
  const units = typeof text === 'string' ? Array.from(text, printfUnit) : Array.from(text, printfByte);
  // A leading hyphen would be read as an option.
  if (units[0] === '-') units[0] = octal(0x2d);
  return `printf ${inLines(units.map((unit) => ({ unit })))}`;
}

/** A PowerShell string without expansion (about_Quoting_Rules). */
export function powerShellString(text: string): string {
  const parts = text.split(/([\p{C}\p{Zl}\p{Zp}])/u).map((part, index) => {
    if (index % 2 === 0) return `'${part.replaceAll(new RegExp(`[${SINGLE_QUOTES}]`, 'g'), '$&$&')}'`;
    return Array.from({ length: part.length }, (_, unit) => `[char]${part.charCodeAt(unit)}`).join('+');
  });
  return parts.length === 1 ? parts.join('') : `(${parts.join('+')})`;
}

/**
 * One word for the platform's shell: POSIX; on Windows for both PowerShell and cmd, or for PowerShell alone if cmd
 * cannot express it.
 */
export function shellWord(text: string, platform: string): string {
  if (platform !== 'win32') return posixWord(text);
  if (PLAIN_IN_WINDOWS.test(text)) return text;
  // In double quotes, cmd expands % and !, PowerShell $ and `; typographic quotation marks end its strings.
  return /["“”„$`%!]/.test(text) || UNPRINTABLE.test(text) ? powerShellString(text) : `"${text}"`;
}

/** Undefined if the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

interface Unit {
  unit: string;
  /** The form to use outside of single quotes, if required. */
  bare?: string | undefined;
}

function bareInPosix(unit: string): string | undefined {
  if (unit === '\\') return String.raw`"\\"`;
  if (unit === '!') return String.raw`\!`;
  return SINGLE_QUOTES.includes(unit) ? `"${unit}"` : undefined;
}

function inLines(units: readonly Unit[]): string {
  if (units.length === 0) return "''";
  let text = '';
  let quoted = false;
  let lineBytes = 0;
  const setQuoted = (wanted: boolean) => {
    if (quoted !== wanted) text += "'";
    quoted = wanted;
  };
  for (const { unit, bare } of units) {
    if (lineBytes >= LINE_BYTES_MAX) {
      setQuoted(false);
      text += '\\\n';
      lineBytes = 0;
    }
    setQuoted(bare === undefined);
    text += bare ?? unit;
    // A character takes up to four bytes of UTF-8, plus two pairs of quotation marks.
    lineBytes += unit.length + (unit > '\x7f' ? 3 : 0) + (bare === undefined ? 0 : 4);
  }
  setQuoted(false);
  return text;
}

const ESCAPES: Record<string, string> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/**
 * Octal escapes for characters special to printf, fish, bash's history or PowerShell, so one pair of quotes suffices.
 */
function printfUnit(character: string): string {
  const escape = ESCAPES[character];
  if (escape !== undefined) return escape;
  if (!UNPRINTABLE.test(character) && !`${SINGLE_QUOTES}\\%!`.includes(character)) return character;
  return Array.from(new TextEncoder().encode(character), octal).join('');
}

const printfByte = (byte: number): string => (byte < 0x80 ? printfUnit(String.fromCharCode(byte)) : octal(byte));
const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`;

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

/** What one shell's curl command has of its own. */
interface CurlForm {
  word: (text: string) => string;
  /** In double quotes, so the shell expands it. */
  secret: string;
  /** How curl gets the body; empty without one. */
  data: readonly string[];
  head: string;
  target?: readonly string[];
}

function curlWords({ method, url, headers, authorized }: CopiedRequest, form: CurlForm): string[] {
  const { word, secret, data, head, target = [] } = form;
  const hasBody = data.length > 0;
  return [
    // curl treats brackets and braces as URL patterns.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(hasDotSegments(url) ? ['--path-as-is'] : []),
    ...target,
    ...(method === 'GET' && !hasBody ? [] : [method === 'HEAD' && !hasBody ? head : `-X ${word(method)}`]),
    ...(authorized ? [`-H "Authorization: Bearer ${secret}"`] : []),
    ...headers.map(({ name, value }) => `-H ${word(value === '' ? `${name};` : `${name}: ${value}`)}`),
    // Without a Content-Type, curl would add its own.
    ...(hasBody && !hasType(headers) ? ["-H 'Content-Type:'"] : []),
    ...data,
    word(url),
  ];
}

/**
 * For a POSIX shell with `$VIVARIUM_KEY` set; runs curl and quotes everything from the request. `options`: further curl
 * options, already quoted.
 */
export function asCurl(request: CopiedRequest, options: readonly string[] = []): string {
  const { url, body, secret = '$VIVARIUM_KEY' } = request;
  const source = sourceOf(request);
  const word = (text: string) => posixWord(octets(text));
  const data =
    source !== undefined ? ['--data-binary @-'] : body === undefined ? [] : [`--data-raw ${posixWord(body)}`];
  // Otherwise curl percent-encodes non-ASCII bytes and drops everything after #.
  const target = /[^\x21-\x7e]|#/.test(url) ? [`--request-target ${word(targetOf(url))}`] : [];
  const words = [...options, ...curlWords(request, { word, secret, data, head: '-I', target })];
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
export function asPowerShell(request: CopiedRequest, options: readonly string[] = []): string {
  const { body, bytes } = request;
  const content =
    bytes !== undefined
      ? `[Convert]::FromBase64String(${powerShellString(bytes)})`
      : body === undefined
        ? undefined
        : `[Text.Encoding]::UTF8.GetBytes(${powerShellString(body)})`;
  const data = content === undefined ? [] : ['--data-binary "@$body"'];
  const form = { word: powerShellString, secret: '$env:VIVARIUM_KEY', data, head: '--head' };
  const words = ["curl.exe --include --noproxy '*'", ...options, ...curlWords(request, form)];
  const command = words.join(' `\n  ');
  return content === undefined
    ? command
    : ['$body = New-TemporaryFile', `[IO.File]::WriteAllBytes($body, ${content})`, command].join('\n');
}
