import type { Project } from '../../../../main/contract/projects.ts';
import { describeFailure, issuesOf } from '../../../connection/failure.ts';
import type { Client } from '../../../connection/transport.ts';
import type { Toasts } from '../../../shared/session/toasts.svelte.ts';
import { optionsOf } from '../../../shared/lists/options.ts';

export type Redirect = Project['redirects'][number];
export type RedirectStatus = Redirect['status'];

/** The effect of each status on a client. */
export const REDIRECT_STATUSES = optionsOf<`${RedirectStatus}`>({
  301: '301 permanent',
  302: '302 temporary',
  307: '307 temporary, same method',
  308: '308 permanent, same method',
});

export interface RedirectDraft {
  /** Stable while rows are added and removed. */
  key: number;
  from: string;
  to: string;
  status: `${RedirectStatus}`;
  /** Whether browsers use HTTPS only, for a while; saved if `requiresHttps`. */
  hsts?: boolean | undefined;
}

/** Whether a typed target leads to HTTPS. */
export const requiresHttps = (to: string): boolean => to.trim().startsWith('https://');

export interface RedirectEditorOptions {
  client: Client;
  toasts: Pick<Toasts, 'done'>;
  projectId: string;
  /** The saved redirects. Reactive. */
  stored: () => readonly Redirect[];
}

/** A project's redirects being edited. The engine validates them together, because a loop spans several. */
export class RedirectEditor {
  #drafts = $state<RedirectDraft[] | undefined>(undefined);
  /** The redirects saved when editing began. */
  #basis = '';
  saving = $state(false);
  failure = $state<string | undefined>(undefined);
  #faults = $state.raw<Readonly<Record<string, string>>>({});
  #lastKey = 0;
  readonly #options: RedirectEditorOptions;
  readonly edited: boolean = $derived.by(() => this.#drafts !== undefined);

  constructor(options: RedirectEditorOptions) {
    this.#options = options;
  }

  /** The edited rows, or the saved redirects. */
  readonly rows: readonly RedirectDraft[] = $derived.by(() => this.#drafts ?? this.#options.stored().map(toDraft));

  get typed(): { rows: RedirectDraft[]; basis: string } | undefined {
    return this.#drafts === undefined ? undefined : { rows: this.#drafts, basis: this.#basis };
  }

  restore(kept: unknown): void {
    const { rows, basis } = kept as Partial<NonNullable<RedirectEditor['typed']>>;
    if (!Array.isArray(rows) || typeof basis !== 'string') return;
    this.#drafts = rows;
    this.#basis = basis;
    this.#lastKey = Math.min(0, ...rows.map(({ key }) => key));
  }

  /** Whether the saved redirects changed since editing began; saving would overwrite that. */
  get isOutdated(): boolean {
    return this.edited && JSON.stringify(this.#options.stored()) !== this.#basis;
  }

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
    // Faults refer to row positions, which have changed.
    this.#faults = {};
  }

  discard(): void {
    this.#drafts = undefined;
    this.failure = undefined;
    this.#faults = {};
  }

  /** Saves all redirects; returns whether the engine accepted them. */
  async save(): Promise<boolean> {
    if (this.saving) return false;
    const { client, projectId, toasts, stored } = this.#options;
    const before = [...stored()];
    this.saving = true;
    this.failure = undefined;
    this.#faults = {};
    try {
      await client.domains.setRedirects({ projectId, redirects: this.rows.map(fromDraft) });
      this.#drafts = undefined;
      toasts.done({
        text: 'The redirects apply now.',
        undo: () => client.domains.setRedirects({ projectId, redirects: before }),
        undone: 'The redirects were restored.',
      });
      return true;
    } catch (error) {
      this.#take(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  #edited(): readonly RedirectDraft[] {
    if (this.#drafts === undefined) this.#basis = JSON.stringify(this.#options.stored());
    return this.#drafts ?? this.rows;
  }

  #take(error: unknown): void {
    const issues = issuesOf(error);
    const placed = issues.filter(({ path }) => /^redirects\[\d+\]\.(from|to)$/.test(path));
    // The first fault of a field is the first to fix.
    this.#faults = Object.fromEntries(placed.toReversed().map(({ path, message }) => [path, message]));
    if (placed.length === 0 || placed.length < issues.length) this.failure = describeFailure(error);
  }
}

const toDraft = ({ status, ...rest }: Redirect, index: number): RedirectDraft => ({
  ...rest,
  key: index,
  status: `${status}`,
});

const fromDraft = ({ from, to, status, hsts }: RedirectDraft): Redirect => ({
  from: from.trim(),
  to: to.trim(),
  status: Number(status) as RedirectStatus,
  ...(hsts === true && requiresHttps(to) && { hsts }),
});
