import type { ImportReport } from '../../main/contract/pets.ts';
import { describeFailure } from '../connection/failure.ts';
import { ConnectionLostError } from '../connection/transport.ts';
import type { RealTime } from '../time/real-time.ts';
import { UnreadableFileError } from './text-pieces.ts';

/** How long the result of work that went well is shown. */
const SHOWN_MS = 10_000;

/** `stopping`: someone asked for it; the part that is under way comes to its end first. */
export type WorkState = 'running' | 'stopping' | 'done' | 'stopped' | 'failed';

export interface WorkOptions {
  /** What is done: "Adding 100,000 made-up pets to production". */
  title: string;
  /** How much there is to do, in whatever unit it is counted in. */
  total: number;
  /**
   * Does it, part by part, for as long as `work.going`; returns what became of it, in a sentence. Work that is asked for
   * in parts needs nothing else: each answer is the progress, and not asking on is the end.
   */
  run: (work: Work) => Promise<string>;
}

/** Something that takes a while, and goes on whatever page is shown. */
export class Work {
  readonly title: string;
  readonly total: number;
  /** What became of each row, where there are rows. */
  report = $state.raw<ImportReport | undefined>(undefined);
  /** Somebody looks at it somewhere else than in the region of works. */
  watched = $state(false);
  #done = $state(0);
  #note = $state('');
  #state = $state<WorkState>('running');
  #result = $state('');

  constructor({ title, total }: WorkOptions) {
    this.title = title;
    this.total = total;
  }

  get done(): number {
    return this.#done;
  }

  /** The share that is done, 0 to 1. */
  get share(): number {
    return this.total === 0 ? 1 : Math.min(1, this.#done / this.total);
  }

  /** How far it is, in words. */
  get note(): string {
    return this.#note;
  }

  get state(): WorkState {
    return this.#state;
  }

  get ended(): boolean {
    return this.#state !== 'running' && this.#state !== 'stopping';
  }

  /** Whether it should go on. A method of looking twice: someone may ask it to stop while a part is under way. */
  get going(): boolean {
    return this.#state === 'running';
  }

  /** What became of it, in a sentence; empty while it goes on. */
  get result(): string {
    return this.#result;
  }

  advance(done: number, note: string): void {
    this.#done = done;
    this.#note = note;
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopping';
  }

  end(result: string, failed = false): void {
    this.#result = result;
    this.#state = failed ? 'failed' : this.#state === 'stopping' ? 'stopped' : 'done';
  }
}

/** All that takes a while. */
export class Works {
  #list = $state.raw<readonly Work[]>([]);
  readonly #time: RealTime;

  constructor(time: RealTime) {
    this.#time = time;
  }

  get list(): readonly Work[] {
    return this.#list;
  }

  start(options: WorkOptions): Work {
    const work = new Work(options);
    this.#list = [...this.#list, work];
    void this.#run(work, options.run);
    return work;
  }

  dismiss(work: Work): void {
    this.#list = this.#list.filter((other) => other !== work);
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
  if (error instanceof ConnectionLostError)
    return 'The connection to Vivarium was lost. What was done until then stays.';
  return error instanceof UnreadableFileError ? error.message : describeFailure(error);
}
