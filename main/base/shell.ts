/**
 * Words of commands that people paste. A word means its text and nothing else, in a script and typed into an interactive
 * shell alike: what strangers send is in some of them.
 *
 * No quotation protects a word from the terminal that it is pasted into: there `^C` ends the line, and what follows is
 * a command of its own (termios(3), ISIG); Tab completes; a line end in quotes begins a line in which bash looks for
 * history again; `ESC [ 201 ~` ends a bracketed paste. So no word has such a character as it is.
 */

/** Control and invisible characters (`^C`, ESC, DEL, C1, bidi controls), line and paragraph separators, lone surrogates. */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** PowerShell reads all of them as the single quotation mark (language specification, section 2.3.5.2). */
const SINGLE_QUOTES = "'‘’‚‛";

/** Without `=` and `%` in front, which are a path to zsh and a job elsewhere. */
const PLAIN_IN_POSIX = /^[\w@+:,./-][\w@%+=:,./-]*$/;
const PLAIN_IN_WINDOWS = /^[\w:./\\-]+$/;

/**
 * A terminal in canonical mode, which dash reads from, drops what is over 4,096 bytes of a line on Linux, over 1,024 on
 * macOS (MAX_CANON): the closing quotation mark, too.
 */
const LINE_BYTES_MAX = 800;

/**
 * One word for sh, dash, bash and zsh, and for fish from 3.4 on. NUL and line ends at the very end get lost: no argument has
 * the one, `$(…)` strips the others.
 *
 * Single quotes keep everything but themselves (POSIX.1-2024, XCU, section 2.2.2). Outside of them stand: a backslash that
 * fish would take for an escape (The fish language, Quotes); `!`, because old versions of bash lose count of quotation marks
 * while they look for history (Bash Reference Manual, section 9.3); and what ends a string of PowerShell, where such a word
 * may be pasted by mistake.
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
 * The command that writes a text or bytes, by the escapes of printf (POSIX.1-2024, XCU, printf): for what no word can hold.
 * A text is written in UTF-8.
 */
export function posixPrintf(text: string | Uint8Array): string {
  const units = typeof text === 'string' ? Array.from(text, printfUnit) : Array.from(text, printfByte);
  // Otherwise it would be an option.
  if (units[0] === '-') units[0] = octal(0x2d);
  return `printf ${inLines(units.map((unit) => ({ unit })))}`;
}

/** One string of PowerShell, in which nothing is expanded (about_Quoting_Rules). */
export function powerShellString(text: string): string {
  const parts = text.split(/([\p{C}\p{Zl}\p{Zp}])/u).map((part, index) => {
    if (index % 2 === 0) return `'${part.replaceAll(new RegExp(`[${SINGLE_QUOTES}]`, 'g'), '$&$&')}'`;
    return Array.from({ length: part.length }, (_, unit) => `[char]${part.charCodeAt(unit)}`).join('+');
  });
  return parts.length === 1 ? parts.join('') : `(${parts.join('+')})`;
}

/** One word for the shell of a platform: POSIX; on Windows both PowerShell and cmd, or PowerShell alone where cmd has no way. */
export function shellWord(text: string, platform: string): string {
  if (platform !== 'win32') return posixWord(text);
  if (PLAIN_IN_WINDOWS.test(text)) return text;
  // Between double quotes cmd expands % and !, and PowerShell $ and `; typographic quotation marks end its string.
  return /["“”„$`%!]/.test(text) || UNPRINTABLE.test(text) ? powerShellString(text) : `"${text}"`;
}

/** Undefined for what is no UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

interface Unit {
  unit: string;
  /** What stands for it outside of single quotes, if it has to. */
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
    // A character takes four bytes of UTF-8 at most; beside it there may be two pairs of quotation marks.
    lineBytes += unit.length + (unit > '\x7f' ? 3 : 0) + (bare === undefined ? 0 : 4);
  }
  setQuoted(false);
  return text;
}

const ESCAPES: Record<string, string> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/** Octal for what is special to printf, fish, bash's history and PowerShell, too, so that one pair of quotes is enough. */
function printfUnit(character: string): string {
  const escape = ESCAPES[character];
  if (escape !== undefined) return escape;
  if (!UNPRINTABLE.test(character) && !`${SINGLE_QUOTES}\\%!`.includes(character)) return character;
  return Array.from(new TextEncoder().encode(character), octal).join('');
}

const printfByte = (byte: number): string => (byte < 0x80 ? printfUnit(String.fromCharCode(byte)) : octal(byte));
const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`;
