import type { Project } from '../../main/contract/projects.ts';
import { describeFailure, issuesOf } from '../connection/failure.ts';
import { ConnectionLostError, type Client } from '../connection/transport.ts';
import type { Toasts } from './toasts.svelte.ts';

export type Redirect = Project['redirects'][number];
export type RedirectStatus = Redirect['status'];

/** What each status means to whoever is redirected. */
export const REDIRECT_STATUSES: readonly { value: `${RedirectStatus}`; label: string }[] = [
  { value: '301', label: '301 moved permanently' },
  { value: '302', label: '302 found, for now' },
  { value: '307', label: '307 for now, keeps the method' },
  { value: '308', label: '308 permanently, keeps the method' },
];

/** One redirect as it stands in the fields. */
export interface RedirectDraft {
  /** Stays while rows come and go. */
  key: number;
  from: string;
  to: string;
  status: `${RedirectStatus}`;
}

export interface RedirectEditorOptions {
  client: Client;
  toasts: Pick<Toasts, 'done'>;
  projectId: string;
  /** As the engine has them. Reactive. */
  stored: () => readonly Redirect[];
}

/** A project's redirects while they are edited. The engine judges them as a whole: a loop leads through several. */
export class RedirectEditor {
  #drafts = $state<RedirectDraft[] | undefined>(undefined);
  /** What was stored when the editing began. */
  #basis = '';
  #saving = $state(false);
  #failure = $state<string | undefined>(undefined);
  #faults = $state.raw<Readonly<Record<string, string>>>({});
  #lastKey = 0;
  readonly #options: RedirectEditorOptions;

  constructor(options: RedirectEditorOptions) {
    this.#options = options;
  }

  /** What is shown: what is being edited, or what is stored. */
  readonly rows: readonly RedirectDraft[] = $derived.by(() => this.#drafts ?? this.#options.stored().map(toDraft));

  get edited(): boolean {
    return this.#drafts !== undefined;
  }

  /** Whether what is stored has changed since the editing began; saving would replace it. */
  get overtaken(): boolean {
    return this.edited && JSON.stringify(this.#options.stored()) !== this.#basis;
  }

  get saving(): boolean {
    return this.#saving;
  }

  /** What is wrong with the whole. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What is wrong with a field of a row. */
  fault(row: number, field: 'from' | 'to'): string | undefined {
    return this.#faults[`redirects[${row}].${field}`];
  }

  add(from = ''): void {
    this.#lastKey -= 1;
    this.#drafts = [...this.#edited(), { key: this.#lastKey, from, to: '', status: '301' }];
  }

  change(row: number, changes: Partial<Omit<RedirectDraft, 'key'>>): void {
    this.#drafts = this.#edited().map((draft, index) => (index === row ? { ...draft, ...changes } : draft));
  }

  remove(row: number): void {
    this.#drafts = this.#edited().filter((_draft, index) => index !== row);
    // Faults are told by row, and the rows have moved.
    this.#faults = {};
  }

  /** Back to what is stored. */
  discard(): void {
    this.#drafts = undefined;
    this.#failure = undefined;
    this.#faults = {};
  }

  /** Sends all of them; whether they were taken. */
  async save(): Promise<boolean> {
    if (this.#saving) return false;
    const { client, projectId, toasts, stored } = this.#options;
    const before = [...stored()];
    this.#saving = true;
    this.#failure = undefined;
    this.#faults = {};
    try {
      await client.domains.setRedirects({ projectId, redirects: this.rows.map(fromDraft) });
      this.#drafts = undefined;
      toasts.done({
        text: 'The redirects are in force.',
        undo: () => client.domains.setRedirects({ projectId, redirects: before }),
        undone: 'The redirects are as they were.',
      });
      return true;
    } catch (error) {
      this.#take(error);
      return false;
    } finally {
      this.#saving = false;
    }
  }

  #edited(): readonly RedirectDraft[] {
    if (this.#drafts === undefined) this.#basis = JSON.stringify(this.#options.stored());
    return this.#drafts ?? this.rows;
  }

  #take(error: unknown): void {
    if (error instanceof ConnectionLostError) {
      this.#failure = 'There is no connection to Vivarium. What you typed stays; save it again when it is back.';
      return;
    }
    const issues = issuesOf(error);
    const placed = issues.filter(({ path }) => /^redirects\[\d+\]\.(from|to)$/.test(path));
    // Of several things wrong with a field, the first is what to mend first.
    this.#faults = Object.fromEntries(placed.toReversed().map(({ path, message }) => [path, message]));
    if (placed.length === 0 || placed.length < issues.length) this.#failure = describeFailure(error);
  }
}

const toDraft = ({ from, to, status }: Redirect, index: number): RedirectDraft => ({
  key: index,
  from,
  to,
  status: `${status}`,
});

const fromDraft = ({ from, to, status }: RedirectDraft): Redirect => ({
  from: from.trim(),
  to: to.trim(),
  status: Number(status) as RedirectStatus,
});
