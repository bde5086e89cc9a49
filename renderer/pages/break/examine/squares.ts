import type { KeptExamination, RowVerdict, TestVerdict } from '../../../../main/contract/examine.ts';
import { missedText, type Verdict, VERDICTS } from '../../../../main/contract/grades.ts';
import type { Tone } from '../../../shared/display/tone.ts';
import { formatPlace } from '../../../shared/navigation/places.ts';

export const TONES: Record<Verdict, Tone> = {
  not_met: 'neutral',
  survived: 'moss',
  failed_as_it_should: 'water',
  hung: 'amber',
  wrong: 'brick',
};

/** How a square looks: a verdict, and whether the row expects another one. Undefined for a test that is not kept. */
export function lookOf(found: RowVerdict | TestVerdict | undefined): { tone: Tone; text: string } {
  if (found === undefined) return { tone: 'neutral', text: 'not kept' };
  const isMissed = 'expected' in found && found.expected !== undefined;
  const text = VERDICTS[found.verdict];
  return isMissed ? { tone: 'brick', text: `${text}, not as expected` } : { tone: TONES[found.verdict], text };
}

/** Up to this many tests each have a column; of more, those with equal verdicts in all rows share one. */
export const TESTS_APART_MAX = 12;
export const COLUMNS_MAX = 100;

/** The tests of one column. */
export type Column = readonly [name: string, ...others: string[]];

/** A row, with a square for each column; undefined for tests that are not kept. */
export type Line = ReturnType<typeof squaresOf>['lines'][number];

/** Rows × tests, the worst of both first, and rows that are not as expected. `left`: how many tests have no column. */
export function squaresOf({ rows }: Pick<KeptExamination, 'rows'>) {
  const tests = rows.map((row) => new Map(row.tests.map((test) => [test.name, test])));
  const names = [...new Set(tests.flatMap((found) => [...found.keys()]))];
  const verdictsOf = (name: string) => tests.map((found) => found.get(name)?.verdict);
  const isMany = names.length > TESTS_APART_MAX;
  const alike = Map.groupBy(names, (name) => (isMany ? verdictsOf(name).join() : name));
  const all = ([...alike.values()] as [string, ...string[]][])
    .map((column) => ({ column, rank: isMany && verdictsOf(column[0]).some(isBad) ? 0 : 1 }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ column }) => column);
  const columns = all.slice(0, COLUMNS_MAX);
  const lines = rows
    .map((found, index) => ({
      run: index + 1,
      found,
      squares: columns.map(([name]) =>
        found.verdict === 'not_met' ? { name, verdict: found.verdict } : tests[index]?.get(name),
      ),
    }))
    .toSorted((a, b) => Number(isBadRow(b.found)) - Number(isBadRow(a.found)));
  return { columns, lines, left: all.slice(COLUMNS_MAX).flat().length };
}

const isBad = (verdict: Verdict | undefined): boolean => verdict === 'wrong' || verdict === 'hung';
const isBadRow = ({ unexpected, verdict }: RowVerdict): boolean => unexpected === true || isBad(verdict);

/** `1 wrong, 8 survived, 1 not as expected`, the worst first. */
export const summaryOf = (rows: readonly RowVerdict[]): string =>
  (Object.keys(VERDICTS) as Verdict[])
    .toReversed()
    .map((verdict) => ({ verdict, count: rows.filter((row) => row.verdict === verdict).length }))
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => `${count} ${VERDICTS[verdict]}`)
    .join(', ') + missedText(rows);

/** The address of the requests of a run. */
export const hrefOfRun = (id: string, run: number): string =>
  formatPlace({ page: 'traffic', query: { of: 'file', examined: `${id}.${run}` } });

/** A square: the line of a run, and the column; -1 is the name of the row, 0 the whole run. */
export type Square = ReturnType<typeof readSquare>;

/** The square in an address, such as `3.1`. Zeros for anything else. */
export function readSquare(text = '') {
  const [run = 0, column = 0] = text.split('.').map((part) => Math.trunc(Number(part)) || 0);
  return { run, column };
}

const STEPS: Readonly<Record<string, readonly [lines: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** Where a key leads; undefined for other keys. */
export function squareBy(key: string, { run, column }: Square, lines: readonly Line[]): Square | undefined {
  const step = STEPS[key];
  if (step === undefined) return undefined;
  const within = (at: number, min: number, max: number): number => Math.max(min, Math.min(max, at));
  const line = within(lines.findIndex((each) => each.run === run) + step[0], 0, lines.length - 1);
  return { run: lines[line]?.run ?? run, column: within(column + step[1], -1, lines[line]?.squares.length ?? 0) };
}
