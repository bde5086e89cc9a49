import type { RealTime } from '../time/real-time.ts';
import { titledFailure } from '../../connection/failure.ts';

/** Long enough to read two lines and reach Undo. */
const SHOWN_MS = 10_000;

/** The maximum number of toasts; the oldest are dropped. */
const TOASTS_MAX = 4;

const UNDO_MAX = 50;

export interface Toast {
  id: number;
  text: string;
  /** `warned`: done, and something became worse by it. */
  tone: 'done' | 'warned' | 'failed';
  undo?: () => Promise<void>;
  /** Another way to what failed, or was done in part. */
  instead?: { label: string; run: () => void };
  kind?: string;
}

export interface Undoable {
  /** The completed action: "Removed Biscuit." */
  text: string;
  undo: () => Promise<unknown>;
  /** The report after undo: "Biscuit is back." A function if it depends on the result. */
  undone: string | (() => string);
  /** For a repeated action: a report replaces the previous one of the same kind. */
  kind?: string;
}

/** Short reports of completed actions, with undo where possible: by the toast's button, or Ctrl/Cmd-Z later. */
export class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #undoable = $state.raw<readonly Toast[]>([]);
  #lastId = 0;
  #held = false;
  #timers: readonly { id: number; cancel(): void }[] = [];
  readonly #time: RealTime;
  readonly canUndo: boolean = $derived.by(() => this.#undoable.length > 0);

  constructor(time: RealTime) {
    this.#time = time;
  }

  say(text: string, instead?: Toast['instead'], tone: Toast['tone'] = 'done'): void {
    this.#show({ id: this.#nextId(), text, tone, ...(instead !== undefined && { instead }) });
  }

  fail(text: string, instead?: Toast['instead']): void {
    this.say(text, instead, 'failed');
  }

  /** Runs an action and reports its failure. `failure`: the failed action, as a sentence. */
  async attempt(failure: string, action: () => Promise<void>, instead?: Toast['instead']): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.fail(titledFailure(failure, error), instead);
    }
  }

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
          this.fail(titledFailure('It could not be undone.', error));
        }
      },
      ...(kind !== undefined && { kind }),
    };
    const before = kind === undefined ? undefined : this.list.find((other) => other.kind === kind);
    if (before !== undefined) this.dismiss(before.id);
    this.#undoable = [...this.#undoable, toast].slice(-UNDO_MAX);
    this.#show(toast);
  }

  /** Undoes the last action that is not undone yet. */
  undoLast(): void {
    void this.#undoable.at(-1)?.undo?.();
  }

  dismiss(id: number): void {
    for (const timer of this.#timers) if (timer.id === id) timer.cancel();
    this.#timers = this.#timers.filter((timer) => timer.id !== id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Takes back all reports, and what could be undone: their session is over. */
  clear(): void {
    for (const { id } of this.list) this.dismiss(id);
    this.#undoable = [];
  }

  /** Keeps all toasts open while the user reads or reaches for one. */
  hold(): void {
    this.#held = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    for (const { id } of this.list) this.#dismissLater(id);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #show(toast: Toast): void {
    for (const { id } of this.list.slice(0, Math.max(0, this.list.length + 1 - TOASTS_MAX))) this.dismiss(id);
    this.list = [...this.list, toast];
    if (!this.#held) this.#dismissLater(toast.id);
  }

  #dismissLater(id: number): void {
    const { cancel } = this.#time.realTimer(SHOWN_MS, () => this.dismiss(id));
    this.#timers = [...this.#timers, { id, cancel }];
  }
}
