import { isRecord } from '../../base/text/exact-json.ts';
import { columns, createStyle, fit, printable, printableLines, widthOf, wrap } from './text.ts';
import type { Renderer, Style } from './text.ts';

type Row = Map<string, string>;

const NOTHING = '–';

/**
 * Renders a result as text: lists as tables, anything else as names and values. Ends with a line break.
 * @param first columns of the table that come before the others
 */
export function renderResult(value: unknown, renderer: Renderer, first: readonly string[] = []): string {
  if (Array.isArray(value)) return renderList(value, renderer, first);
  if (!isRecord(value)) return `${textOf(value)}\n`;
  const items = value['items'];
  if (!Array.isArray(items)) return renderObject(value, renderer);
  const { items: _items, ...rest } = value;
  return renderList(items, renderer, first) + (Object.keys(rest).length > 0 ? `\n${renderObject(rest, renderer)}` : '');
}

/** Renders one value of a stream on one line. */
export function renderEvent(value: unknown, { style }: Renderer): string {
  if (!isRecord(value)) return `${textOf(value)}\n`;
  const { at, type, ...rest } = value;
  const fields = [...flatten(rest)].map(([name, text]) => `${style.faint(`${name}=`)}${text}`);
  const head = [at === undefined ? '' : style.faint(textOf(at)), type === undefined ? '' : style.heading(textOf(type))];
  return `${[...head, ...fields].filter((part) => part !== '').join('  ')}\n`;
}

function renderList(list: readonly unknown[], renderer: Renderer, first: readonly string[]): string {
  if (list.length === 0) return `${renderer.style.faint('Nothing here.')}\n`;
  if (!list.every(isRecord)) return list.map((value) => `${textOf(value)}\n`).join('');
  const large = new Set(list.flatMap((row) => [...largeIn(row)]));
  return renderTable(
    list.map((row) => flatten(row)),
    large,
    renderer,
    first,
  );
}

function renderTable(
  rows: readonly Row[],
  large: ReadonlySet<string>,
  renderer: Renderer,
  first: readonly string[],
): string {
  const { style, width } = renderer;
  const present = new Set(rows.flatMap((row) => [...row.keys()]));
  const all = [...new Set([...first.filter((name) => present.has(name)), ...present])];
  const small = all.filter((name) => !large.has(name));
  const names = small.length > 0 ? small : all;
  const cells = (chosen: readonly string[]) => [
    [...chosen],
    ...rows.map((row) => chosen.map((name) => row.get(name) ?? NOTHING)),
  ];
  const shown = [...names];
  while (width !== null && shown.length > 1 && widthOfTable(cells(shown)) > width) shown.pop();
  const left = [...names.slice(shown.length), ...all.filter((name) => !names.includes(name))];
  const table = cells(shown);
  const [head = '', ...lines] =
    width === null || shown.length > 1 ? columns(table) : columns(table).map((line) => fit(line, width));
  const colouredLines = lines.map((line, index) => colourWords(line, table[index + 1] ?? [], style));
  return [style.heading(head), ...colouredLines, ...leftOut(left, renderer)].map((line) => `${line}\n`).join('');
}

/** The lines below a table that name the columns left out, if there are any. */
export const leftOut = (names: readonly string[], { style, width }: Renderer): string[] =>
  names.length === 0
    ? []
    : wrap(`Not shown: ${names.join(', ')}. --json has everything.`, width).map((line) => style.faint(line));

const widthOfTable = (cells: readonly (readonly string[])[]): number =>
  columns(cells).reduce((widest, line) => Math.max(widest, widthOf(line)), 0);

/** Colours cells that name a state. Runs after the layout because escape sequences would distort widths. */
function colourWords(line: string, cells: readonly string[], style: Style): string {
  let position = 0;
  let coloured = '';
  for (const cell of cells) {
    const start = line.indexOf(cell, position);
    if (start < 0) break;
    coloured += line.slice(position, start) + style.word(cell);
    position = start + cell.length;
  }
  return coloured + line.slice(position);
}

/** Renders names and values, one a line. */
export const renderObject = (value: Record<string, unknown>, { style }: Renderer): string =>
  namedLines(flatten(value, 'block'), style);

/** One line per name with its text beside it; further lines of a text are indented below the first. */
function namedLines(row: Row, style: Style): string {
  const widest = Math.max(0, ...[...row.keys()].map((name) => name.length));
  const margin = ' '.repeat(widest + 2);
  const below = (text: string): string => text.replace(/\n(?!\n)/g, `\n${margin}`);
  return [...row].map(([name, text]) => `${style.faint(name.padEnd(widest))}  ${below(style.word(text))}\n`).join('');
}

/** Flattens an object to names and texts; nested fields become `limits.perMinute`. */
function flatten(value: Record<string, unknown>, layout: Layout = 'line', prefix = ''): Row {
  const row: Row = new Map();
  for (const [name, inner] of Object.entries(value)) {
    if (isRecord(inner)) for (const [path, text] of flatten(inner, layout, `${prefix}${name}.`)) row.set(path, text);
    else row.set(printable(prefix + name), textOf(inner, layout));
  }
  return row;
}

/** Fields that fit into no table at any width: long lists of objects, and texts of several lines or lists of them. */
function* largeIn(value: Record<string, unknown>, prefix = ''): Generator<string> {
  for (const [name, inner] of Object.entries(value)) {
    if (isRecord(inner)) yield* largeIn(inner, `${prefix}${name}.`);
    else if (Array.isArray(inner) ? isLongList(inner) : isLinesText(inner)) yield printable(prefix + name);
  }
}

const isLongList = (list: readonly unknown[]): boolean =>
  list.some(isLinesText) || (list.some(isRecord) && widthOf(listText(list, 'line')) > ITEM_WIDTH_MAX);

const isLinesText = (value: unknown): boolean => typeof value === 'string' && value.trimEnd().includes('\n');

/** Whether a value gets one line (in a table) or several (such as PEM). */
type Layout = 'line' | 'block';

function textOf(value: unknown, layout: Layout = 'line'): string {
  if (value === null || value === undefined || value === '') return NOTHING;
  if (Array.isArray(value)) return listText(value, layout);
  if (layout === 'line' || typeof value !== 'string') return printable(String(value));
  // Code is pasted from here: its tabs stay.
  return isLinesText(value) ? printableLines(value.trimEnd()) : printable(value.trimEnd());
}

function listText(list: readonly unknown[], layout: Layout): string {
  if (list.length === 0) return NOTHING;
  if (isSeries(list)) return sparkline(list);
  const texts = list.map((item) =>
    isRecord(item) ? [...flatten(item)].map(([name, text]) => `${name}: ${text}`).join(', ') : textOf(item),
  );
  if (layout === 'block' && texts.some((text, index) => isRecord(list[index]) && widthOf(text) > ITEM_WIDTH_MAX)) {
    const blocks = list.map((item) =>
      isRecord(item) ? namedLines(flatten(item, 'block'), PLAIN).trimEnd() : textOf(item),
    );
    return blocks.join('\n\n');
  }
  const areLong = list.some(isRecord) || texts.some((text) => text.includes(' '));
  return texts.join(areLong ? SEPARATORS[layout] : ', ');
}

/** Widths above which a list item goes on its own lines, and a list of objects leaves the table. */
const ITEM_WIDTH_MAX = 80;

const PLAIN = createStyle(false);

const SEPARATORS: Record<Layout, string> = { line: '; ', block: '\n' };

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Shown where a value is absent. */
const GAP = '·';

/** Limit on bars; longer series show the highest of neighbouring values. */
const BARS_MAX = 40;

/** Shorter lists are easier to read as numbers. */
const SERIES_MIN = 8;

/** A list of numbers over time, with null where there is no value. */
export const isSeries = (list: readonly unknown[]): list is (number | null)[] =>
  list.length >= SERIES_MIN && list.every((value) => value === null || typeof value === 'number');

/** One line for a series: bars from 0 to the highest value, and that value. A dash if it has no value at all. */
export function sparkline(series: readonly (number | null)[]): string {
  if (series.every((value) => value === null)) return '–';
  const step = Math.ceil(series.length / BARS_MAX);
  const highs: (number | null)[] = [];
  for (let start = 0; start < series.length; start += step) {
    const values = series.slice(start, start + step).filter((value) => value !== null);
    highs.push(values.length === 0 ? null : Math.max(...values));
  }
  const highest = Math.max(0, ...highs.map((high) => high ?? 0));
  const bars = highs.map((high) => (high === null ? GAP : barOf(high, highest)));
  return `${bars.join('')}  highest ${Number(highest.toFixed(2))}`;
}

/** Only 0 has the lowest bar, so that a single request among thousands is visible. */
function barOf(value: number, highest: number): string {
  if (value <= 0) return BARS[0];
  return BARS[Math.max(1, Math.ceil((value / highest) * BARS.length) - 1)] ?? BARS[0];
}
