import { escapeUnprintable, printable, wantsColour, widthLimit, type TextOutput } from '../../base/text/terminal.ts';

export { printable } from '../../base/text/terminal.ts';

/** Style and width of the output; a null width means unlimited. */
export interface Renderer {
  style: Style;
  width: number | null;
}

/** Turns `vivarium …` into a command that works in the user's shell and folder. */
export type OwnCommand = (command: string) => string;

/** What a view of a result depends on besides the result. */
export interface Shown extends Renderer {
  /** The input, and what only the command line knows. */
  asked: Readonly<Record<string, unknown>>;
  own: OwnCommand;
}

/** Follows the colours and width that the output wants. */
export const rendererFor = (output: TextOutput): Renderer => ({
  style: createStyle(wantsColour(output)),
  width: widthLimit(output),
});

/** A line with `json`. For a terminal it escapes the same characters in JSON's own way, which keeps the value. */
export const jsonLine = (json: string, { isTTY }: TextOutput['stdout']): string =>
  `${isTTY === true ? escapeJson(json) : json}\n`;

const escapeJson = (json: string): string =>
  escapeUnprintable(json, (code) => `\\u${code.toString(16).padStart(4, '0')}`);

/** Makes the text of a file safe for a terminal: keeps line breaks and tabs, escapes other control characters. */
export const printableLines = (text: string): string => text.replace(/[^\n\t]+/g, printable);

/** Created on first use: loading the ICU tables takes longer than most commands run. */
let segmenter: Intl.Segmenter | null = null;

function segmentsOf(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/**
 * Characters that terminals show two cells wide: the wide blocks of Unicode TR11, and emoji (Unicode TR51) that are
 * pictures by default or by the variation selector U+FE0F, but not `©` or `↔` as text.
 */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2fb}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;

/** Characters that take no cell: marks without a base, joiners, zero-width spaces. */
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** One cell each, without a look at segments: ASCII, Latin, dashes, quotation marks, arrows, bars. */
const PLAIN = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2193\u2500-\u259f]*$/;

/** Width of `text` in terminal cells. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += cellsOf(segment);
  return width;
}

function cellsOf(segment: string): number {
  if (WIDE.test(segment)) return 2;
  return INVISIBLE.test(segment) ? 0 : 1;
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

/** Breaks `text` between words into lines of at most `width` cells; a longer word gets its own line. Null: no limit. */
export function wrap(text: string, width: number | null): string[] {
  if (width === null) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Sections of a help text with lines to copy, which stay whole. */
const COPIED = /^(Begin with|Examples|Install)$/;
/** A last column that is narrower than this goes below its row. */
const COLUMN_WIDTH_MIN = 24;
const BELOW = ' '.repeat(6);

/** Fits a help text to a terminal: breaks paragraphs and the last columns of tables between words; null: no limit. */
export function fitHelp(text: string, width: number | null): string {
  if (width === null) return text;
  const lines = text.split('\n');
  const paragraphs: Block[][] = [];
  const add = (block: Block) => {
    const last = paragraphs.at(-1);
    if (last === undefined || block.lines[0] === '') paragraphs.push([block]);
    else last.push(block);
  };
  let section = '';
  for (let index = 0; index < lines.length; index++) {
    const first = lines[index] ?? '';
    if (first === '' || /^\w/.test(first)) section = first;
    const lead = leadOf(first, width);
    // A command of a usage line without a description.
    if (first === '' || COPIED.test(section) || (section === 'Usage' && lead.trim() === '')) {
      add({ lines: [first], lead: null });
      continue;
    }
    const block = [first];
    const margin = ' '.repeat(widthOf(lead));
    const goesOn = (line: string) => line.startsWith(margin) && /^\S(?!.*\S {2,}\S)/.test(line.slice(margin.length));
    while (margin !== '' && goesOn(lines[index + 1] ?? '')) block.push(lines[++index] ?? '');
    add({ lines: block, lead });
  }
  return paragraphs.flatMap((paragraph) => fitParagraph(paragraph, width)).join('\n');
}

/** A row of a table or a paragraph, with its further lines. `lead`: null where it stays as it is. */
interface Block {
  lines: readonly string[];
  lead: string | null;
}

/** The rows of a table have their last columns either all beside the others, or all below. */
function fitParagraph(blocks: readonly Block[], width: number): string[] {
  const exceeds = ({ lines }: Block) => lines.some((line) => widthOf(line) > width);
  const isBroken = blocks.some((block) => exceeds(block) && isTooNarrow(block.lead, width));
  return blocks.flatMap((block) => {
    const { lines, lead } = block;
    if (lead === null) return lines;
    if (isBroken && lead.trim() !== '') return breakBlock(lines, lead, width);
    return exceeds(block) ? wrapBlock(lines, lead, width) : lines;
  });
}

/** Whether the last column has no room beside the first ones. */
const isTooNarrow = (lead: string | null, width: number): boolean =>
  lead !== null && lead.trim() !== '' && width - widthOf(lead) < COLUMN_WIDTH_MIN;

/** What precedes the text of a line: its indentation, and the first columns of a table. */
function leadOf(line: string, width: number): string {
  const all = /^ *(?:.*\S {2,}(?=\S))?/.exec(line)?.[0] ?? '';
  return widthOf(all) <= width - COLUMN_WIDTH_MIN ? all : (/^ *(?:\S.*? {2,}(?=\S))?/.exec(line)?.[0] ?? '');
}

/** What follows the lead, as one text: further columns become one. */
const textAfter = (lead: string, lines: readonly string[]): string =>
  lines
    .map((line, index) => line.slice(index === 0 ? lead.length : widthOf(lead)))
    .join(' ')
    .replace(/ {2,}/g, ', ');

function wrapBlock(lines: readonly string[], lead: string, width: number): string[] {
  const margin = ' '.repeat(widthOf(lead));
  return wrap(textAfter(lead, lines), width - margin.length).map((line, index) => (index === 0 ? lead : margin) + line);
}

const breakBlock = (lines: readonly string[], lead: string, width: number): string[] => [
  lead.trimEnd(),
  ...wrap(textAfter(lead, lines), width - BELOW.length).map((line) => BELOW + line),
];

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
  /** Colours a status by its class; null is an exchange without one. */
  status(text: string, status: number | null): string;
}

const plain = (text: string): string => text;

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;

const BOLD = 1;
const FAINT = 2;
const RED = 31;
const GREEN = 32;
const YELLOW = 33;
const CYAN = 36;

const CLASS_COLOURS: Record<number, number | undefined> = { 1: CYAN, 2: GREEN, 3: CYAN, 4: YELLOW, 5: RED };

/** Words of the contract that name a state. */
const WORD_COLOURS: Record<string, number | undefined> = {
  ...Object.fromEntries(['available', 'succeeded', 'placed', 'verified', 'issued', 'ok'].map((word) => [word, GREEN])),
  ...Object.fromEntries(['pending', 'suspended', 'unknown', 'warning'].map((word) => [word, YELLOW])),
  ...Object.fromEntries(
    ['failed', 'down', 'misconfigured', 'expired', 'forbidden', 'lookup_failed'].map((word) => [word, RED]),
  ),
};

export function createStyle(colour: boolean): Style {
  if (!colour) return { heading: plain, faint: plain, word: plain, status: plain };
  return {
    heading: paint(BOLD),
    faint: paint(FAINT),
    word(text) {
      const code = WORD_COLOURS[text.trim()];
      return code === undefined ? text : paint(code)(text);
    },
    status: (text, status) => paint(CLASS_COLOURS[Math.floor((status ?? 0) / 100)] ?? FAINT)(text),
  };
}

export const indent = (lines: readonly string[]): string => lines.map((line) => `  ${line}`.trimEnd()).join('\n');

/** The lines of a table, below its headings. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  columns([head, ...rows])
    .map((line) => `${printable(line)}\n`)
    .join('');

/** `1 pet`, `1,000 pets`. */
export const counted = (count: number, one: string, more = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`;
