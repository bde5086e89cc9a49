import { STAGING_SUFFIX } from '../../base/config.ts';
import type { TrafficEntry } from '../../contract/traffic.ts';
import { renderEvent } from './render.ts';
import { counted, fit, printable, widthOf, type Renderer } from './text.ts';

/** One column: its least width, and the width up to which it grows with its texts. */
interface Column {
  name: string;
  least: number;
  most: number;
  /** `isDated`: the times have dates. */
  text: (entry: TrafficEntry, isDated?: boolean) => string;
  /** Aligns to the right. */
  right?: true;
}

/** Takes the rest of the line in a terminal. */
const PATH: Column = { name: 'path', least: 24, most: 40, text: ({ target }) => target };

const COLUMNS: readonly Column[] = [
  { name: 'time', least: 8, most: 19, text: timeText },
  { name: 'status', least: 6, most: 6, text: ({ status }) => (status === null ? '–' : String(status)) },
  { name: 'method', least: 6, most: 7, text: ({ method }) => method },
  PATH,
  { name: 'took', least: 7, most: 7, text: ({ durationMs }) => tookText(durationMs), right: true },
  { name: 'project', least: 7, most: 32, text: projectText },
  { name: 'decided by', least: 15, most: 30, text: deciderOf },
  { name: 'id', least: 16, most: 24, text: ({ id }) => id },
];

/** The least width of the path in a terminal. */
const PATH_MIN = 12;

/** Left out of a terminal that is too narrow for them, in this order; the path then has at least so many cells. */
const EXPENDABLE: readonly (readonly [name: string, pathWidth: number])[] = [
  ['id', 32],
  ['project', PATH_MIN],
  ['took', PATH_MIN],
  ['decided by', PATH_MIN],
  ['method', PATH_MIN],
];

const GAP = '  ';

/** A slug takes at most this share of the line. */
const PROJECT_SHARE = 6;

/**
 * Requests as lines of one table, whose columns grow with what they show. A line never exceeds the renderer's width.
 */
export class TrafficRows {
  readonly #widths = new Map(COLUMNS.map(({ name, least }) => [name, least]));
  #day: string | null = null;
  /** Once the entries are of several days: the app's clock can be moved. */
  #isDated = false;

  /** Makes room for entries that are shown later. */
  fitTo(entries: readonly TrafficEntry[]): void {
    for (const entry of entries) {
      this.#day ??= dayOf(entry);
      this.#isDated ||= dayOf(entry) !== this.#day;
    }
    for (const entry of entries) {
      for (const { name, most, text } of COLUMNS) {
        const wanted = Math.min(widthOf(printable(text(entry, this.#isDated))), most);
        this.#widths.set(name, Math.max(this.#widthOf(name), wanted));
      }
    }
  }

  /** The names of the columns, and of those that have no room. */
  header({ style, width }: Renderer): { line: string; left: string[] } {
    const shown = this.#shown(width);
    const line = this.#line(shown, ({ name }) => name);
    const left = COLUMNS.filter(({ name }) => !shown.some(({ column }) => column.name === name));
    return {
      line: style.heading(width === null ? line : fit(line, width)),
      left: left.map(({ name }) => name),
    };
  }

  row(entry: TrafficEntry, { style, width }: Renderer): string {
    this.fitTo([entry]);
    const shown = this.#shown(width);
    const line = this.#line(shown, ({ text }) => printable(text(entry, this.#isDated)), width !== null);
    const whole = width === null ? line : fit(line, width);
    // Coloured after the layout, because escape sequences would distort widths.
    const status = COLUMNS[1]?.text(entry) ?? '';
    return whole.replace(/^((?:[\d-]+ )?\S+)(\s+)(\S+)/, (_all, time: string, gap: string, shownStatus: string) =>
      [style.faint(time), gap, shownStatus === status ? style.status(status, entry.status) : shownStatus].join(''),
    );
  }

  #widthOf(name: string): number {
    return this.#widths.get(name) ?? 0;
  }

  /** The columns that fit, with their widths. */
  #shown(width: number | null): { column: Column; width: number }[] {
    let shown = COLUMNS.map((column) => ({ column, width: this.#widthOf(column.name) }));
    if (width === null) return shown;
    for (const item of shown) {
      if (item.column.name === 'project') {
        item.width = Math.min(item.width, Math.max(item.column.least, Math.floor(width / PROJECT_SHARE)));
      }
    }
    const restOf = (): number =>
      width - shown.reduce((sum, { column, width: own }) => sum + (column === PATH ? 0 : own + GAP.length), 0);
    for (const [name, pathWidth] of EXPENDABLE) {
      if (restOf() < pathWidth) shown = shown.filter(({ column }) => column.name !== name);
    }
    const rest = Math.max(restOf(), 1);
    return shown.map((item) => (item.column === PATH ? { ...item, width: rest } : item));
  }

  #line(
    shown: readonly { column: Column; width: number }[],
    textOf: (column: Column) => string,
    isCut = false,
  ): string {
    return shown
      .map(({ column, width }) => {
        const text = isCut ? fit(textOf(column), width) : textOf(column);
        const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
        return column.right === true ? blanks + text : text + blanks;
      })
      .join(GAP)
      .trimEnd();
  }
}

function dayOf({ at }: TrafficEntry): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}

/** In the terminal's time zone. */
function timeText(entry: TrafficEntry, isDated = false): string {
  const time = new Date(entry.at).toTimeString().slice(0, 8);
  return isDated ? `${dayOf(entry)} ${time}` : time;
}

function tookText(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return ms < 99_950 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`;
}

/** The slug, with `-staging`. */
function projectText({ project, environment }: TrafficEntry): string {
  if (project === undefined) return '–';
  return environment === 'staging' ? project + STAGING_SUFFIX : project;
}

const BY_STAGE: Partial<Record<TrafficEntry['stage'], string>> = {
  listener: 'bad request',
  authority: 'host unclear',
  route: 'no project',
  redirect: 'redirect',
  identify: 'no valid key',
};

/** What decided the answer, in at most 15 characters. */
function deciderOf({ status, stage, refusal, window, answeredBy, provider, aborted, fault }: TrafficEntry): string {
  if (fault !== undefined) return fault.entry;
  if (status === null) return 'client left';
  if (refusal === 'api_key_banned') return 'banned key';
  if (refusal !== undefined) return window === undefined ? 'limit' : `${window} window`;
  const byStage = BY_STAGE[stage];
  if (byStage !== undefined) return byStage;
  if (answeredBy === 'proxy') return status >= 500 ? 'upstream failed' : 'proxy';
  const by = provider === undefined ? answeredBy : `${provider} API`;
  return aborted ? `${by}, cut off` : by;
}

interface TrafficBatch {
  entries: TrafficEntry[];
  missed: number;
  cleared: boolean;
}

/** A stream for people: the header, once, then what each value adds to standard output, and to standard error. */
export function createStreamView(procedure: string) {
  if (procedure !== 'traffic.watch') {
    const value = (each: unknown, renderer: Renderer) => ({ lines: renderEvent(each, renderer), notices: [] });
    return { header: () => '', value };
  }
  const rows = new TrafficRows();
  return {
    header: (renderer: Renderer) => `${rows.header(renderer).line}\n`,
    value(value: unknown, renderer: Renderer) {
      const { entries, missed, cleared } = value as TrafficBatch;
      return {
        lines: entries.map((entry) => `${rows.row(entry, renderer)}\n`).join(''),
        notices: [
          ...(cleared ? ['The earlier entries were deleted.'] : []),
          ...(missed > 0 ? [`${counted(missed, 'more request', 'more requests')} arrived too fast to be shown.`] : []),
        ],
      };
    },
  };
}

/**
 * The JSON texts of one value of a stream, one a line. A batch of `traffic watch` becomes `{"cleared":true}` if the
 * entries before it were deleted, its entries, and `{"missed":n}` if n further ones came too fast.
 */
export function jsonTexts(procedure: string, json: string): string[] {
  if (procedure !== 'traffic.watch') return [json];
  const { entries, missed, cleared } = JSON.parse(json) as TrafficBatch;
  const values = [...(cleared ? [{ cleared }] : []), ...entries, ...(missed > 0 ? [{ missed }] : [])];
  return values.map((value) => JSON.stringify(value));
}
