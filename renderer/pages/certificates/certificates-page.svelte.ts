import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { StoreTrust } from '../../../main/contract/certificates.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { certificateBadge } from '../../shared/domains/domain-badges.ts';
import { compareNames } from '../../shared/domains/unicode-name.ts';
import { Task } from '../../shared/controls/task.svelte.ts';

export type RootInfo = Awaited<ReturnType<Client['ca']['get']>>;

export type KeyStorage = RootInfo['key']['storage'];

/** The domains with their leaves. */
export const domainsQuery = (source: Source): LiveQuery<readonly Domain[]> =>
  new LiveQuery(source, ['certificates.changed', 'domains.changed', 'projects.changed'], async (signal) =>
    inOrder(await source.client.domains.list({}, { signal })),
  );

/** The root, its trust stores, and the domains that wait for it. */
export class CertificatesPage {
  readonly root: LiveQuery<RootInfo>;
  readonly domains: LiveQuery<readonly Domain[]>;
  readonly trust: TrustStores;
  /** Moves the root's private key; the engine reports why it can't. */
  readonly keyMove: Task<[to: KeyStorage]>;
  readonly #client: Client;
  /** Domains that wait for an extension of the root. */
  readonly waiting: readonly Domain[] = $derived.by(() => (this.domains.value ?? []).filter(isSuffixMissing));

  constructor(options: Source) {
    const { client } = options;
    this.#client = client;
    // The settings contain the location of the private key.
    this.root = new LiveQuery(options, ['ca.changed', 'settings.changed'], (signal) => client.ca.get({}, { signal }));
    this.domains = domainsQuery(options);
    this.trust = new TrustStores(options);
    this.keyMove = new Task((caKey) => client.settings.update({ caKey }));
  }

  extension(suffix = ''): Form<{ suffix: string }, RootInfo> {
    return new Form<{ suffix: string }, RootInfo>({
      values: { suffix },
      // The dialog says what it means.
      submit: (values) => this.#client.ca.extend({ ...values, confirm: true }),
      fieldOf: () => 'suffix',
    });
  }

  close(): void {
    this.root.close();
    this.domains.close();
    this.trust.close();
  }
}

/** Whether the root may not sign for the domain, including after the attempts were given up. */
export const isSuffixMissing = ({ checks }: Domain): boolean =>
  checks.some(({ code, outcome }) => code === 'suffix_not_permitted' && outcome !== 'ok');

/** The registered name: the domain itself, or the zone that its record's name is relative to. */
export function registeredName({ hostname, kind, instructions: [instruction] }: Domain): string {
  const label = `${instruction?.name ?? ''}.`;
  return kind === 'apex' || !hostname.startsWith(label) ? hostname : hostname.slice(label.length);
}

/** What has failed first, each group by name. */
function inOrder(domains: readonly Domain[]): Domain[] {
  const rank = ({ certificate }: Domain): number => (certificateBadge(certificate).tone === 'brick' ? 0 : 1);
  return domains.toSorted((a, b) => rank(a) - rank(b) || compareNames(a.hostname, b.hostname));
}

type Action = 'trust' | 'untrust';

/** The result of the last attempt to change a store. */
export type StoreReport =
  /** Advice from the attempt, or the command to run with a password. */
  { kind: 'answered'; action: Action; answer: StoreTrust } | { kind: 'failed'; message: string };

/** The trust stores of this machine and their actions. Other programs may change them too. */
export class TrustStores {
  readonly query: LiveQuery<StoreTrust[]>;
  readonly #client: Client;
  readonly #busy = new SvelteSet<string>();
  readonly #reports = new SvelteMap<string, StoreReport>();

  constructor(source: Source) {
    const { client } = source;
    this.#client = client;
    this.query = new LiveQuery(source, ['ca.changed'], (signal) => client.ca.trustStatus({}, { signal }));
  }

  isBusy(store: string): boolean {
    return this.#busy.has(store);
  }

  /** The message of the last attempt, if it adds to the store's own state. */
  reportOn({ store, state, message }: StoreTrust): StoreReport | undefined {
    const report = this.#reports.get(store);
    if (report?.kind !== 'answered') return report;
    const { answer } = report;
    // The store changed since, so the message is outdated.
    if (answer.state !== state) return undefined;
    return answer.message === message && answer.command === undefined ? undefined : report;
  }

  trust(store: string): Promise<StoreTrust | undefined> {
    return this.#change(store, 'trust');
  }

  /** Removes the root, or another Vivarium's root by its fingerprint. */
  untrust(store: string, fingerprint?: string): Promise<StoreTrust | undefined> {
    return this.#change(store, 'untrust', fingerprint);
  }

  /** Undoes a change with the opposite one and throws its failure, for the caller to report. */
  async undo(store: string, change: Action): Promise<void> {
    await this.#send(store, change === 'trust' ? 'untrust' : 'trust');
  }

  close(): void {
    this.query.close();
  }

  async #change(store: string, action: Action, fingerprint?: string): Promise<StoreTrust | undefined> {
    if (this.#busy.has(store)) return undefined;
    try {
      const answer = await this.#send(store, action, fingerprint);
      this.#reports.set(store, { kind: 'answered', action, answer });
      return answer;
    } catch (error) {
      this.#reports.set(store, { kind: 'failed', message: describeFailure(error) });
      return undefined;
    }
  }

  async #send(store: string, action: Action, fingerprint?: string): Promise<StoreTrust> {
    const { ca } = this.#client;
    this.#busy.add(store);
    this.#reports.delete(store);
    try {
      if (action === 'trust') return await ca.trust({ store });
      return await ca.untrust({ store, ...(fingerprint !== undefined && { fingerprint }) });
    } finally {
      this.#busy.delete(store);
    }
  }
}
