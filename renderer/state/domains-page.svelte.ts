import type { Domain } from '../../main/contract/domains.ts';
import type { Project } from '../../main/contract/projects.ts';
import { LiveQuery, type Source } from '../live/live-query.svelte.ts';
import type { Navigator } from '../navigation/navigator.svelte.ts';
import { formatPlace } from '../navigation/places.ts';
import type { Announcer } from './announcer.svelte.ts';
import { ConfigurationEditor } from './configuration-editor.svelte.ts';
import { DomainActions } from './domain-actions.svelte.ts';
import { readFilter, type DomainFilter } from './domain-list.ts';
import { RedirectEditor } from './redirect-editor.svelte.ts';
import type { Toasts } from './toasts.svelte.ts';

/** Longer than the time between two presses of a key that is held down. */
export const PASSING_MS = 120;

/** What of the domains is shown. */
export const PARTS = [
  { value: 'domains', label: 'Domains' },
  { value: 'redirects', label: 'Redirects' },
  { value: 'configuration', label: 'Configuration' },
] as const;
export type Part = (typeof PARTS)[number]['value'];

export interface DomainsPageOptions extends Source {
  navigator: Navigator;
  toasts: Toasts;
  announcer: Announcer;
  /** Reactive; always the same project. */
  project: () => Project;
}

/** The Domains page of a project. What it shows stands in the address, so that it can be linked to and gone back from. */
export class DomainsPage {
  readonly domains: LiveQuery<Domain[]>;
  readonly actions: DomainActions;
  readonly redirects: RedirectEditor;
  readonly configuration: ConfigurationEditor;
  readonly #options: DomainsPageOptions;
  /** What was attached here, until the list that is read next has it. */
  #justAttached = $state<string | undefined>(undefined);
  #passing: { cancel(): void } | undefined;

  constructor(options: DomainsPageOptions) {
    this.#options = options;
    const { client, changes, time, toasts, announcer, project } = options;
    const { id: projectId } = project();
    this.domains = new LiveQuery({
      changes,
      time,
      read: (signal) => client.domains.list({ projectId }, { signal }),
      // Instructions depend on the zones, checks on the clock; of two changes at once, only one is of this project.
      concerns: (change) =>
        ['zones.changed', 'clock.changed'].includes(change.type) ||
        (['domains.changed', 'certificates.changed', 'projects.changed'].includes(change.type) &&
          (change.projectId === undefined || change.projectId === projectId)),
    });
    this.actions = new DomainActions({
      client,
      toasts,
      announcer,
      projectId,
      onverified: (verified) =>
        this.domains.amend((all) => all.map((domain) => (domain.hostname === verified.hostname ? verified : domain))),
    });
    this.redirects = new RedirectEditor({ client, toasts, projectId, stored: () => project().redirects });
    this.configuration = new ConfigurationEditor({ client, changes, time, toasts, projectId });
  }

  /** The hostname that the address names. */
  get item(): string | undefined {
    return this.#options.navigator.place?.item;
  }

  /** The domain that is shown beside the list. */
  get chosen(): Domain | undefined {
    return this.domains.value?.find(({ hostname }) => hostname === this.item);
  }

  get part(): Part {
    return PARTS.find(({ value }) => value === this.#query['show'])?.value ?? 'domains';
  }

  /** Whether a domain is being attached; with an item, it is that one. */
  get attaching(): boolean {
    return this.#query['attach'] !== undefined;
  }

  /** Whether the domain that the address names is there, and only the list does not know it yet. */
  get awaited(): boolean {
    return this.item !== undefined && this.item === this.#justAttached && this.chosen === undefined;
  }

  get search(): string {
    return this.#query['search'] ?? '';
  }

  get filter(): DomainFilter {
    return readFilter(this.#query['state']);
  }

  get suspended(): number {
    return this.domains.value?.filter(({ state }) => state === 'suspended').length ?? 0;
  }

  /** Where the hostname redirects to, when it does. */
  redirectOf(hostname: string): string | undefined {
    return this.#options.project().redirects.find(({ from }) => from === hostname)?.to;
  }

  /** The address of a domain, with what narrows the list. */
  hrefOf(hostname: string): string {
    const { search, filter } = this;
    const query = { search, state: filter === 'all' ? '' : filter };
    return formatPlace({ page: 'domains', project: this.#options.project().slug, item: hostname, query });
  }

  narrow(changes: { search?: string; filter?: DomainFilter }): void {
    const { search, filter } = changes;
    this.#options.navigator.narrow({
      ...(search !== undefined && { search }),
      ...(filter !== undefined && { state: filter === 'all' ? undefined : filter }),
    });
  }

  showPart(part: Part): void {
    this.#options.navigator.show(undefined);
    this.#options.navigator.narrow({ show: part === 'domains' ? undefined : part, attach: undefined });
  }

  show(hostname: string): void {
    this.#passing?.cancel();
    this.#options.navigator.show(hostname);
    this.#options.navigator.narrow({ attach: undefined });
  }

  /** Shows a domain if it is still the one a moment later: while a key is held down, only the last one is. */
  pass(hostname: string): void {
    this.#passing?.cancel();
    this.#passing = this.#options.time.realTimer(PASSING_MS, () => {
      this.#options.navigator.show(hostname, { replace: true });
      this.#options.navigator.narrow({ attach: undefined });
    });
  }

  /** Back to the list alone. */
  leave(): void {
    this.#passing?.cancel();
    this.#options.navigator.show(undefined);
    this.#options.navigator.narrow({ attach: undefined });
  }

  beginAttaching(): void {
    this.#options.navigator.show(undefined);
    this.#options.navigator.narrow({ attach: 'name', show: undefined });
  }

  /** Goes on with the record of what was just attached. */
  attached(hostname: string): void {
    this.#justAttached = hostname;
    this.domains.reread();
    this.#options.navigator.show(hostname, { replace: true });
    this.#options.navigator.narrow({ attach: 'record', search: undefined, state: undefined });
  }

  async remove({ hostname }: Domain): Promise<boolean> {
    const removed = await this.actions.remove(hostname);
    this.#justAttached = undefined;
    if (removed && this.item === hostname) {
      this.#options.navigator.show(undefined, { replace: true });
      this.#options.navigator.narrow({ attach: undefined });
    }
    return removed;
  }

  /** Goes to the redirects, with one that begins at the domain. */
  redirect({ hostname }: Domain): void {
    this.showPart('redirects');
    if (!this.redirects.rows.some(({ from }) => from === hostname)) this.redirects.add(hostname);
  }

  close(): void {
    this.#passing?.cancel();
    this.domains.close();
    this.configuration.close();
  }

  get #query(): Readonly<Record<string, string>> {
    return this.#options.navigator.query;
  }
}
