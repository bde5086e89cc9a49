/** Standard output and the environment, which together decide how text is written. */
export interface TextOutput {
  stdout: {
    readonly isTTY?: boolean | undefined;
    /** The width of the terminal in cells; 0 or undefined when the terminal does not report it. */
    readonly columns?: number | undefined;
  };
  env: Readonly<Record<string, string | undefined>>;
}

/** Values of `FORCE_COLOR` that Node and most command-line libraries read as "no colours". */
const FORCED_OFF: ReadonlySet<string> = new Set(['0', 'false']);

/**
 * Whether to write colours. The first variable that is set and not empty decides: `NO_COLOR` (no-color.org) turns them
 * off, `FORCE_COLOR` (force-color.org) on, or off with 0 and false as in Node, and `CLICOLOR_FORCE`
 * (bixense.com/clicolors) on unless it is 0. Without them a terminal has colours, except with `CLICOLOR=0` or
 * `TERM=dumb`.
 */
export function wantsColour({ stdout, env }: TextOutput): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', CLICOLOR_FORCE = '', CLICOLOR, TERM } = env;
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR !== '') return !FORCED_OFF.has(FORCE_COLOR.toLowerCase());
  if (CLICOLOR_FORCE !== '' && CLICOLOR_FORCE !== '0') return true;
  return stdout.isTTY === true && CLICOLOR !== '0' && TERM !== 'dumb';
}

/**
 * The width to fit text into, in cells; null for no limit: in a pipe or file, and in a terminal that reports no width.
 * In a terminal, an exported `COLUMNS` counts first (POSIX, XBD 8.3).
 */
export function widthLimit({ stdout, env }: TextOutput): number | null {
  if (stdout.isTTY !== true) return null;
  const { COLUMNS = '' } = env;
  const columns = /^[1-9]\d{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : (stdout.columns ?? 0);
  return columns > 0 ? columns : null;
}

/** Control characters and bidirectional overrides: a terminal would interpret them instead of showing them. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Replaces each character that a terminal would interpret; all of them have at most four hexadecimal digits. */
export const escapeUnprintable = (text: string, escape: (code: number) => string): string =>
  text.replace(UNPRINTABLE, (character) => escape(character.charCodeAt(0)));

/** Escapes characters that a terminal would interpret: ESC becomes `\u{1b}`. */
export const printable = (text: string): string => escapeUnprintable(text, (code) => `\\u{${code.toString(16)}}`);
