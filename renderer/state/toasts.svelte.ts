import type { RealTime } from '../time/real-time.ts';
import { describeFailure } from '../connection/failure.ts';

/** Long enough to read two lines and to reach Undo. */
const SHOWN_MS = 10_000;

/** Older ones go when more come. */
const TOASTS_MAX = 4;

/** How far back undo reaches. */
const UNDO_MAX = 50;

export interface Toast {
  id: number;
  text: string;
  tone: 'done' | 'failed';
  /** Undoes what the text says. */
  undo?: () => Promise<void>;
  kind?: string;
}

export interface Undoable {
  /** What was done: "Removed Biscuit." */
  text: string;
  undo: () => Promise<unknown>;
  /** What is said when it has been undone: "Biscuit is back." A function, where that depends on what became of it. */
  undone: string | (() => string);
  /** The report of something that is done many times over: one of the same kind takes the place of the one before. */
  kind?: string;
}

/** Short reports of what was done, with the way back where there is one: by the toast's button, or Ctrl/Cmd-Z later. */
export class Toasts {
  #list = $state.raw<readonly Toast[]>([]);
  #undoable = $state.raw<readonly Toast[]>([]);
  #lastId = 0;
  #held = false;
  #timers: readonly { id: number; cancel(): void }[] = [];
  readonly #time: RealTime;

  constructor(time: RealTime) {
    this.#time = time;
  }

  get list(): readonly Toast[] {
    return this.#list;
  }

  get canUndo(): boolean {
    return this.#undoable.length > 0;
  }

  say(text: string): void {
    this.#show({ id: this.#nextId(), text, tone: 'done' });
  }

  fail(text: string): void {
    this.#show({ id: this.#nextId(), text, tone: 'failed' });
  }

  /** Does it, and reports why it could not be done. `failure`: what that is, in a sentence. */
  async attempt(failure: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.fail(`${failure} ${describeFailure(error)}`);
    }
  }

  /** Reports something that can be undone. */
  done({ text, undo, undone, kind }: Undoable): void {
    const id = this.#nextId();
    const toast: Toast = {
      id,
      text,
      tone: 'done',
      undo: async () => {
        this.#undoable = this.#undoable.filter((other) => other.id !== id);
        this.dismiss(id);
        try {
          await undo();
          this.say(typeof undone === 'string' ? undone : undone());
        } catch (error) {
          this.fail(`It could not be undone. ${describeFailure(error)}`);
        }
      },
      ...(kind !== undefined && { kind }),
    };
    const before = kind === undefined ? undefined : this.#list.find((other) => other.kind === kind);
    if (before !== undefined) this.dismiss(before.id);
    this.#undoable = [...this.#undoable, toast].slice(-UNDO_MAX);
    this.#show(toast);
  }

  /** Undoes what was done last and has not been undone. */
  undoLast(): void {
    void this.#undoable.at(-1)?.undo?.();
  }

  dismiss(id: number): void {
    for (const timer of this.#timers) if (timer.id === id) timer.cancel();
    this.#timers = this.#timers.filter((timer) => timer.id !== id);
    this.#list = this.#list.filter((toast) => toast.id !== id);
  }

  /** Keeps all of them in sight while someone reads or reaches for one. */
  hold(): void {
    this.#held = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    for (const { id } of this.#list) this.#dismissLater(id);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #show(toast: Toast): void {
    for (const { id } of this.#list.slice(0, Math.max(0, this.#list.length + 1 - TOASTS_MAX))) this.dismiss(id);
    this.#list = [...this.#list, toast];
    if (!this.#held) this.#dismissLater(toast.id);
  }

  #dismissLater(id: number): void {
    const { cancel } = this.#time.realTimer(SHOWN_MS, () => this.dismiss(id));
    this.#timers = [...this.#timers, { id, cancel }];
  }
}
