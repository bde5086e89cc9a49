import type { Domain } from '../../../main/contract/domains.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { Task } from '../../shared/controls/task.svelte.ts';
import { TrustStores } from './trust-stores.svelte.ts';

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

/** Domains with a certificate first, each group by name. */
function inOrder(domains: readonly Domain[]): Domain[] {
  const rank = ({ certificate }: Domain): number => (certificate.notAfter === undefined ? 1 : 0);
  return domains.toSorted((a, b) => rank(a) - rank(b) || compare(a.hostname, b.hostname));
}

const { compare } = new Intl.Collator('en', { numeric: true });
