/** Control characters and those that reorder text: in a terminal they would act instead of being shown. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** `text` so that a terminal shows it and does nothing else: what is not for showing becomes `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** Made when the first text needs it: the tables behind it take longer to load than most commands to run. */
let segmenter: Intl.Segmenter | null = null;

function segmentsOf(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Scripts and pictures that terminals show two cells wide (Unicode TR11, the wide blocks that names are written in). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const PLAIN = /^[\u0020-\u007e]*$/;

/** The cells that a terminal needs for `text`. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** `text` in at most `width` cells, with an ellipsis where it is cut. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const { segment } of segmentsOf(text)) {
    used += widthOf(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** Lines in which the cells of every column begin at the same place, two blanks apart. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  );
}

export interface Style {
  heading(text: string): string;
  faint(text: string): string;
  /** Coloured as what it says: well, waiting, or wrong. */
  word(text: string): string;
}

const plain = (text: string): string => text;

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;

const BOLD = 1;
const FAINT = 2;
const RED = 31;
const GREEN = 32;
const YELLOW = 33;

/** The words of the contract that tell how something is. */
const WORD_COLOURS: Record<string, number | undefined> = {
  ...Object.fromEntries(['available', 'succeeded', 'placed', 'verified', 'issued', 'ok'].map((word) => [word, GREEN])),
  ...Object.fromEntries(['pending', 'suspended', 'unknown', 'warning'].map((word) => [word, YELLOW])),
  ...Object.fromEntries(
    ['failed', 'misconfigured', 'expired', 'forbidden', 'lookup_failed'].map((word) => [word, RED]),
  ),
};

export function createStyle(colour: boolean): Style {
  if (!colour) return { heading: plain, faint: plain, word: plain };
  return {
    heading: paint(BOLD),
    faint: paint(FAINT),
    word(text) {
      const code = WORD_COLOURS[text.trim()];
      return code === undefined ? text : paint(code)(text);
    },
  };
}

/** Colour where the terminal has it, unless `NO_COLOR` (no-color.org) says otherwise; `FORCE_COLOR` for pipes. */
export function wantsColour(
  stdout: { isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true;
  return stdout.isTTY === true && env['TERM'] !== 'dumb';
}
