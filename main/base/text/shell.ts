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
