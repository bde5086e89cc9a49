import type { Client } from '../connection/transport.ts';
import { Task } from './task.svelte.ts';

export type ImportReport = Awaited<ReturnType<Client['zones']['import']>>;

/** A line of the file that something is to be said about. */
export interface ReportedLine {
  line: number;
  /** As it stands in the file, cut where it is long. */
  text: string;
  message: string;
  forcible: boolean;
}

/** Beyond this, a text that was pasted or read is not drawn: a text area of millions of characters stops the page. */
const DRAWN_LENGTH_MAX = 200_000;

const LINE_LENGTH_MAX = 200;

/** A zone file on its way into a zone, and the report of what became of it. */
export class ZoneImport {
  /** What stands in the text area, unless a file was chosen that is too large for it. */
  text = $state('');
  #file = $state.raw<{ name: string; text: string } | undefined>(undefined);
  #report = $state.raw<ImportReport | undefined>(undefined);
  #lines: readonly string[] = [];
  readonly #task: Task<[force: boolean], ImportReport>;

  constructor(client: Pick<Client, 'zones'>, zone: string) {
    this.#task = new Task((force) => client.zones.import({ name: zone, text: this.content, force }));
  }

  /** What will be imported. */
  get content(): string {
    return this.#file?.text ?? this.text;
  }

  /** The file that was chosen, while it is too large to be shown as text. */
  get largeFile(): { name: string; lines: number } | undefined {
    return this.#file === undefined ? undefined : { name: this.#file.name, lines: this.#file.text.split('\n').length };
  }

  get report(): ImportReport | undefined {
    return this.#report;
  }

  get running(): boolean {
    return this.#task.running;
  }

  get failure(): string | undefined {
    return this.#task.failure;
  }

  get rejected(): ReportedLine[] {
    return this.#said(this.#report?.rejected ?? []);
  }

  get warnings(): ReportedLine[] {
    return this.#said(this.#report?.warnings ?? []);
  }

  /** Takes a file's text: into the text area where it fits, beside it where it does not. */
  take(name: string, text: string): void {
    this.#report = undefined;
    this.#task.clear();
    if (text.length <= DRAWN_LENGTH_MAX) {
      this.#file = undefined;
      this.text = text;
    } else {
      this.#file = { name, text };
    }
  }

  /** Back to what can be typed. */
  dropFile(): void {
    this.#file = undefined;
  }

  async start({ force = false } = {}): Promise<ImportReport | undefined> {
    const report = await this.#task.start(force);
    if (report === undefined) return undefined;
    this.#lines = this.content.split(/\r?\n/);
    const before = force ? this.#report : undefined;
    // With force, what the first attempt took is there already.
    this.#report =
      before === undefined
        ? report
        : { ...report, created: before.created + report.created, existing: before.existing };
    return this.#report;
  }

  /** Leaves the report, to go on with the text. */
  back(): void {
    this.#report = undefined;
  }

  #said(lines: ImportReport['rejected']): ReportedLine[] {
    return lines.map(({ line, message, forcible }) => ({
      line,
      text: (this.#lines[line - 1] ?? '').slice(0, LINE_LENGTH_MAX),
      message,
      forcible: forcible === true,
    }));
  }
}
