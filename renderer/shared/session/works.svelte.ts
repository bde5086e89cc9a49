import type { ImportReport } from '../../../main/contract/pets.ts';
import { describeFailure } from '../../connection/failure.ts';
import { ConnectionLostError } from '../../connection/transport.ts';
import type { RealTime } from '../time/real-time.ts';
import { UnreadableFileError } from '../display/text-pieces.ts';

/** How long the result of successful work is shown. */
const SHOWN_MS = 10_000;

/** `stopping`: the user stopped it; the current part still completes. */
export type WorkState = 'running' | 'stopping' | 'done' | 'stopped' | 'failed';

export type Counted = readonly [one: string, many: string, verb: string];

export interface WorkOptions {
  /** The task: "Adding 100,000 made-up pets to production". */
  title: string;
  /** The total amount, in any unit. */
  total: number;
  /** One and many of what a report counts, and what was done; by default pets that were added. */
  counted?: Counted;
  /**
   * Runs part by part while `work.going`; returns the result as a sentence. Work split into several calls needs no
   * other protocol: each answer is progress, and no further call stops it.
   */
  run: (work: Work) => Promise<string>;
}

/** A long-running task that continues on every page. */
export class Work {
  /** The task; once it has ended, what came of it. */
  title = $state('');
  readonly total: number;
  readonly counted: Counted;
  /** The name of its project. */
  readonly project: string | undefined;
  /** The result per row, for work on rows. */
  report = $state.raw<ImportReport | undefined>(undefined);
  /** What is offered once it has ended. */
  next = $state.raw<{ label: string; run: () => void } | undefined>(undefined);
  /** Another component shows this work, so the region of works hides it. */
  watched = $state(false);
  done = $state(0);
  note = $state('');
  state = $state<WorkState>('running');
  /** The result as a sentence; empty while running, and where the title says all of it. */
  result = $state('');
  readonly ended: boolean = $derived.by(() => this.state !== 'running' && this.state !== 'stopping');
  /** Whether to continue. */
  readonly going: boolean = $derived.by(() => this.state === 'running');

  constructor({ title, total, counted = ['pet', 'pets', 'added'] }: WorkOptions, project?: string) {
    this.title = title;
    this.total = total;
    this.counted = counted;
    this.project = project;
  }

  /** The completed share, 0 to 1. */
  get share(): number {
    return this.total === 0 ? 1 : Math.min(1, this.done / this.total);
  }

  advance(done: number, note: string): void {
    this.done = done;
    this.note = note;
  }

  stop(): void {
    if (this.state === 'running') this.state = 'stopping';
  }

  end(result: string, failed = false): void {
    this.result = result;
    this.state = failed ? 'failed' : this.state === 'stopping' ? 'stopped' : 'done';
  }
}

export class Works {
  list = $state.raw<readonly Work[]>([]);
  readonly #time: RealTime;
  readonly #shown: () => string | undefined;

  /** `shown`: the name of the project whose pages are shown. */
  constructor(time: RealTime, shown: () => string | undefined = () => undefined) {
    this.#time = time;
    this.#shown = shown;
  }

  start(options: WorkOptions, project = this.#shown()): Work {
    const work = new Work(options, project);
    this.list = [...this.list, work];
    void this.#run(work, options.run);
    return work;
  }

  dismiss(work: Work): void {
    this.list = this.list.filter((other) => other !== work);
  }

  async #run(work: Work, run: WorkOptions['run']): Promise<void> {
    try {
      work.end(await run(work));
    } catch (error) {
      work.end(describe(error), true);
    }
    const hasMore = work.state === 'failed' || (work.report?.rejectedTotal ?? 0) > 0;
    if (!hasMore) this.#time.realTimer(SHOWN_MS, () => this.dismiss(work));
  }
}

function describe(error: unknown): string {
  if (error instanceof ConnectionLostError) return 'The connection to Vivarium was lost. The completed part stays.';
  return error instanceof UnreadableFileError ? error.message : describeFailure(error);
}
