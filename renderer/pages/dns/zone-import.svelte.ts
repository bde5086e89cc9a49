import type { Client } from '../../connection/transport.ts';
import { Task } from '../../shared/controls/task.svelte.ts';

export type ImportReport = Awaited<ReturnType<Client['zones']['import']>>;

export interface ReportedLine {
  line: number;
  /** As written in the file, truncated. */
  text: string;
  message: string;
  forcible: boolean;
}

/** Longer texts are not put into the text area: millions of characters would freeze the page. */
const DRAWN_LENGTH_MAX = 200_000;

const LINE_LENGTH_MAX = 200;

export interface NamedText {
  name: string;
  text: string;
}

/** The names of `$INCLUDE` lines, without folders, as a browser names files. */
const includedBy = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^\$INCLUDE[ \t]+(?:\S*\/)?([^\s/]+)/gim)].map(([, name = '']) => name));

/** The import of a zone file with those that it includes, and its report. */
export class ZoneImport {
  /** The content of the text area; not used for a chosen file that is too large for it. */
  text = $state('');
  #file = $state.raw<NamedText | undefined>(undefined);
  #included = $state.raw<readonly NamedText[]>([]);
  report = $state.raw<ImportReport | undefined>(undefined);
  #lines: readonly string[] = [];
  readonly #task: Task<[force: boolean], ImportReport>;
  /** The text of the text area, until it is imported. */
  readonly typed = $derived.by(() => (this.text === '' || this.report !== undefined ? undefined : this.text));
  readonly content: string = $derived.by(() => this.#file?.text ?? this.text);
  /** The chosen file, if it is too large for the text area. */
  readonly largeFile = $derived.by(() =>
    this.#file === undefined ? undefined : { name: this.#file.name, lines: this.#file.text.split('\n').length },
  );
  readonly running: boolean = $derived.by(() => this.#task.running);
  readonly failure: string | undefined = $derived.by(() => this.#task.failure);
  /** Names of the chosen files that the text, or one of them, includes. */
  readonly included: string[] = $derived.by(() => this.#included.map(({ name }) => name));

  constructor(client: Pick<Client, 'zones'>, zone: string) {
    this.#task = new Task((force) =>
      client.zones.import({ name: zone, text: this.content, files: this.#files(), force }),
    );
  }

  restore(kept: unknown): void {
    if (typeof kept === 'string') this.text = kept;
  }

  get rejected(): ReportedLine[] {
    return this.#reportedLines(this.report?.rejected ?? []);
  }

  get warnings(): ReportedLine[] {
    return this.#reportedLines(this.report?.warnings ?? []);
  }

  #files(): Record<string, string> {
    return Object.fromEntries(this.#included.map(({ name, text }) => [name, text]));
  }

  /**
   * Takes files: those that another of them or the present text includes by `$INCLUDE` are imported with it; the first
   * other one replaces the text.
   */
  take(files: readonly NamedText[]): void {
    this.report = undefined;
    this.#task.clear();
    const isIn = ({ name }: NamedText, texts: readonly string[]) => texts.some((text) => includedBy(text).has(name));
    const main = files.find((file) => !isIn(file, [this.content, ...files.map(({ text }) => text)]));
    const others = files.filter((file) => file !== main);
    const kept =
      main === undefined ? this.#included.filter(({ name }) => !others.some((file) => file.name === name)) : [];
    this.#included = [...kept, ...others];
    if (main !== undefined) this.#takeMain(main);
  }

  /** Into the text area if it fits. */
  #takeMain({ name, text }: NamedText): void {
    if (text.length <= DRAWN_LENGTH_MAX) {
      this.#file = undefined;
      this.text = text;
    } else {
      this.#file = { name, text };
    }
  }

  /** Discards the large file and returns to the text area. */
  dropFile(): void {
    this.#file = undefined;
  }

  dropIncluded(): void {
    this.#included = [];
  }

  async start({ force = false } = {}): Promise<ImportReport | undefined> {
    const report = await this.#task.start(force);
    if (report === undefined) return undefined;
    this.#lines = this.content.split(/\r?\n/);
    const before = force ? this.report : undefined;
    // With force, the records of the first attempt exist already.
    this.report =
      before === undefined
        ? report
        : { ...report, created: before.created + report.created, existing: before.existing };
    return this.report;
  }

  /** Closes the report and returns to the text. */
  back(): void {
    this.report = undefined;
  }

  #reportedLines(lines: ImportReport['rejected']): ReportedLine[] {
    return lines.map(({ line, message, forcible }) => ({
      line,
      text: (this.#lines[line - 1] ?? '').slice(0, LINE_LENGTH_MAX),
      message,
      forcible: forcible === true,
    }));
  }
}
