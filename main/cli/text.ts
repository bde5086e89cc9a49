/** Control characters and bidirectional overrides: a terminal would act on them instead of showing them. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes characters that a terminal would act on: ESC becomes `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** Created on first use: loading the ICU tables takes longer than most commands run. */
let segmenter: Intl.Segmenter | null = null;

function segmentsOf(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Characters that terminals show two cells wide (Unicode TR11, the wide blocks used in names). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const PLAIN = /^[\u0020-\u007e]*$/;

/** Width of `text` in terminal cells. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Cuts `text` to at most `width` cells, with an ellipsis if anything is cut. */
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

/** Aligns columns, two spaces apart. */
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
  /** Colours a state by its meaning: good, waiting, or wrong. */
  word(text: string): string;
}

const plain = (text: string): string => text;

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;

const BOLD = 1;
const FAINT = 2;
const RED = 31;
const GREEN = 32;
const YELLOW = 33;

/** Words of the contract that name a state. */
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

/** Colours for terminals, unless `NO_COLOR` (no-color.org) is set; `FORCE_COLOR` enables them for pipes. */
export function wantsColour(
  stdout: { isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true;
  return stdout.isTTY === true && env['TERM'] !== 'dumb';
}
