import type { Domain } from '../../../main/contract/domains.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { inProject, LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import type { Navigator } from '../../shared/navigation/navigator.svelte.ts';
import { formatPlace } from '../../shared/navigation/places.ts';
import { formatCounted } from '../../shared/time/format.ts';
import type { Announcer } from '../../shared/session/announcer.svelte.ts';
import type { Breaks } from '../../shared/session/breaks.svelte.ts';
import type { Runs } from '../../shared/project/runs.svelte.ts';
import { ConfigurationEditor } from './routing/configuration-editor.svelte.ts';
import { DomainActions } from './domain-actions.svelte.ts';
import { nextSort, readFilter, readSort, type DomainFilter, type DomainSort } from './domain-list.ts';
import type { Several } from '../../shared/domains/attachment.svelte.ts';
import { attaching, verifying } from '../../shared/domains/domain-works.ts';
import { reattaching, removing } from './domain-removal.ts';
import { RedirectEditor } from './routing/redirect-editor.svelte.ts';
import { RowSelection } from '../../shared/lists/row-selection.svelte.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';
import type { Works } from '../../shared/session/works.svelte.ts';

/** Longer than the repeat interval of a held key. */
export const SELECT_DELAY_MS = 120;

/** For several domains. */
export const PUT_RECORDS = 'Put their records in my local zones and verify';

export const PARTS = [
  { part: 'domains', title: 'Domains' },
  { part: 'redirects', title: 'Redirects' },
  { part: 'configuration', title: 'Configuration' },
] as const;
export type Part = (typeof PARTS)[number]['part'];

export interface DomainsPageOptions extends Source {
  navigator: Navigator;
  toasts: Toasts;
  works: Works;
  announcer: Announcer;
  breaks: Pick<Breaks, 'again'>;
  runs: Pick<Runs, 'of'>;
  /** Reactive; always the same project. */
  project: () => Project;
}

/** The Domains page of a project. The address contains its whole view state, so it can be linked and returned to. */
export class DomainsPage {
  readonly domains: LiveQuery<Domain[]>;
  readonly actions: DomainActions;
  readonly selection = new RowSelection();
  readonly redirects: RedirectEditor;
  readonly configuration: ConfigurationEditor;
  readonly #options: DomainsPageOptions;
  /** The hostname just attached, until the list includes it. */
  #justAttached = $state<string | undefined>(undefined);
  #selecting: { cancel(): void } | undefined;
  readonly suspended = $derived.by(() => this.domains.value?.filter(({ state }) => state === 'suspended').length ?? 0);

  constructor(options: DomainsPageOptions) {
    this.#options = options;
    const { client, changes, time, toasts, announcer, breaks, runs, project } = options;
    const { id: projectId } = project();
    // Instructions depend on the zones, checks on the clock; other changes matter only for this project.
    this.domains = new LiveQuery(
      options,
      inProject(
        { projectId },
        'zones.changed',
        'clock.changed',
        'domains.changed',
        'certificates.changed',
        'projects.changed',
      ),
      (signal) => client.domains.list({ projectId }, { signal }),
    );
    this.actions = new DomainActions({
      client,
      toasts,
      announcer,
      breaks,
      run: () => runs.of(projectId),
      projectId,
      onverified: (verified) =>
        this.domains.amend((all) => all.map((domain) => (domain.hostname === verified.hostname ? verified : domain))),
    });
    this.redirects = new RedirectEditor({ client, toasts, projectId, stored: () => project().redirects });
    this.configuration = new ConfigurationEditor({ client, changes, time, toasts, projectId });
  }

  /** The hostname in the address. */
  get item(): string | undefined {
    return this.#options.navigator.place?.item;
  }

  get chosen(): Domain | undefined {
    return this.domains.value?.find(({ hostname }) => hostname === this.item);
  }

  get part(): Part {
    return PARTS.find(({ part }) => part === this.#query['show'])?.part ?? 'domains';
  }

  get attaching(): boolean {
    return this.#query['attach'] !== undefined && this.item === undefined;
  }

  /** Whether the domain in the address exists, but the list does not include it yet. */
  get awaited(): boolean {
    return this.item !== undefined && this.item === this.#justAttached && this.chosen === undefined;
  }

  get search(): string {
    return this.#query['search'] ?? '';
  }

  get filter(): DomainFilter {
    return readFilter(this.#query['state']);
  }

  get sort(): DomainSort {
    return readSort(this.#query['sort']);
  }

  /** Sorts by a column, or the other way round. */
  sortBy(by: DomainSort['by']): void {
    this.#options.navigator.setQuery({ sort: nextSort(this.sort, by) });
  }

  redirectOf(hostname: string): string | undefined {
    return this.#options.project().redirects.find(({ from }) => from === hostname)?.to;
  }

  /** The address of a domain, or of a part of the page, with the list's filters. */
  hrefOf(hostname?: string, part: Part = 'domains'): string {
    const { search, filter } = this;
    const show = part === 'domains' ? '' : part;
    const query = { show, search, state: filter === 'all' ? '' : filter, sort: this.#query['sort'] ?? '' };
    const list = { page: 'domains', project: this.#options.project().slug, query } as const;
    return formatPlace(hostname === undefined ? list : { ...list, item: hostname });
  }

  setQuery(changes: { search?: string; filter?: DomainFilter }): void {
    const { search, filter } = changes;
    this.#options.navigator.setQuery({
      ...(search !== undefined && { search }),
      ...(filter !== undefined && { state: filter === 'all' ? undefined : filter }),
    });
  }

  /** Shows a domain, or the list alone. */
  show(hostname: string | undefined, how: { replace?: boolean } = {}): void {
    this.#selecting?.cancel();
    this.#options.navigator.show(hostname, how);
    this.#options.navigator.setQuery({ attach: undefined });
  }

  /** Selects a domain after a short delay, so a held key selects only the last one. */
  showSoon(hostname: string): void {
    this.#selecting?.cancel();
    this.#selecting = this.#options.time.realTimer(SELECT_DELAY_MS, () => this.show(hostname, { replace: true }));
  }

  beginAttaching(): void {
    this.#options.navigator.show(undefined);
    this.#options.navigator.setQuery({ attach: 'name', show: undefined });
  }

  /** Shows the newly attached domain. */
  attached(hostname: string): void {
    this.#justAttached = hostname;
    this.domains.reread();
    this.show(hostname, { replace: true });
    this.#options.navigator.setQuery({ search: undefined, state: undefined });
  }

  async remove({ hostname }: Domain): Promise<boolean> {
    const removed = await this.actions.remove(hostname);
    this.#justAttached = undefined;
    if (removed && this.item === hostname) this.show(undefined, { replace: true });
    return removed;
  }

  /** Attaches the rest of several hostnames, and leaves the steps; the report of the work has each refusal. */
  attachAll(several: Several): void {
    const { client, project, works } = this.#options;
    this.show(undefined);
    const work = works.start(attaching({ client, projectId: project().id, ...several }));
    if (several.local) return;
    work.next = {
      label: PUT_RECORDS,
      run: () => {
        const refused = work.report?.rejected.map(({ text }) => text) ?? [];
        works.dismiss(work);
        this.serveAll(several.hostnames.filter((hostname) => !refused.includes(hostname)));
      },
    };
  }

  /** Does for attached domains what their record panel does for one: puts the record, and verifies. */
  serveAll(hostnames: readonly string[]): void {
    const { client, project, works } = this.#options;
    works.start(attaching({ client, projectId: project().id, hostnames, local: true }));
  }

  verifyAll(hostnames: readonly string[]): void {
    this.#options.works.start(verifying(this.#options.client, hostnames));
  }

  /** Removes several domains. Undo attaches them again, with their redirects, primary and breaks. */
  removeAll(hostnames: readonly string[]): void {
    const { client, breaks, project, toasts, works } = this.#options;
    const of = { client, breaks, projectId: project().id };
    this.selection.clear();
    const work = works.start(
      removing(of, hostnames, (removed, uses) => {
        // The report below says it all.
        if (removed.length === hostnames.length) works.dismiss(work);
        if (this.item !== undefined && removed.includes(this.item)) this.show(undefined);
        const domains = formatCounted(removed.length, 'domain', 'domains');
        toasts.done({
          text: `Removed ${domains}: no longer served, and without certificates.`,
          undo: () => Promise.resolve(works.start(reattaching(of, removed, uses), work.project)),
          undone: `${domains}: being attached again.`,
        });
      }),
    );
  }

  /** Opens the redirects with a new one from the domain. */
  redirect({ hostname }: Domain): void {
    this.#options.navigator.show(undefined);
    this.#options.navigator.setQuery({ show: 'redirects', attach: undefined });
    if (!this.redirects.rows.some(({ from }) => from === hostname)) this.redirects.add(hostname);
  }

  close(): void {
    this.#selecting?.cancel();
    this.domains.close();
    this.configuration.close();
  }

  get #query(): Readonly<Record<string, string>> {
    return this.#options.navigator.query;
  }
}
