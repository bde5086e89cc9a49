import type { Certificate, CaaVerdict } from '../../../../main/contract/certificates.ts';
import type { Domain } from '../../../../main/contract/domains.ts';
import { PROVIDER_IDS } from '../../../../main/contract/provider-table.ts';
import type { ProviderAnswers } from '../../../../main/contract/providers.ts';
import type { Settings } from '../../../../main/contract/settings.ts';
import { LiveQuery } from '../../../connection/live-query.svelte.ts';
import { orderedNames } from '../../../shared/domains/acme-orders.ts';
import { canBeMade } from '../../../shared/domains/caa-edits.ts';
import { leafQuery } from '../../../shared/domains/leaf-query.ts';
import { readLocalRecords, type LocalRecords } from '../../../shared/domains/record-plan.ts';
import type { SettingsSource } from '../../../shared/session/settings-query.ts';

/** The CA identity to rehearse. Empty values mean those of the settings. */
export interface Rehearsal {
  issuer: string;
  wildcard: boolean;
  method: string;
  accountUri: string;
}

const OWN: Rehearsal = { issuer: '', wildcard: false, method: '', accountUri: '' };

export interface DomainDetailOptions extends SettingsSource {
  /** The domain as it is now; its hostname never changes. */
  domain: () => Pick<Domain, 'hostname' | 'instructions' | 'persona' | 'state'>;
}

/** The details of one domain. Created when it is selected, closed when it is not. */
export class DomainDetail {
  /** A walk, and the CA identity of the settings. */
  readonly caa: LiveQuery<{ verdict: CaaVerdict; identity: Settings['caaIdentity'] }>;
  /** Null while there is none. */
  readonly certificate: LiveQuery<Certificate | null>;
  readonly local: LiveQuery<LocalRecords>;
  readonly ordered: LiveQuery<ReadonlySet<string>>;
  /** What the API of the project's provider says; null where none is emulated. */
  readonly api: LiveQuery<ProviderAnswers | null>;
  rehearsal = $state.raw<Rehearsal>(OWN);
  readonly #unfollow: () => void;
  /** Whether the walk differs from the one that decides about the certificate. */
  readonly rehearsing: boolean = $derived.by(() => JSON.stringify(this.rehearsal) !== JSON.stringify(OWN));
  /** The verdict that refuses a verified domain its certificate: what would reverse it is the next step. */
  readonly denied: CaaVerdict | undefined = $derived.by(() => {
    const verdict = this.caa.value?.verdict;
    const isNext = this.#domain().state === 'verified' && !this.rehearsing && verdict?.verdict === 'forbidden';
    return isNext ? verdict : undefined;
  });
  /** Whether Vivarium can make the edits of `denied`. */
  readonly permits: boolean = $derived.by(() => canBeMade(this.denied?.edits ?? [], this.local.value?.zones ?? []));
  readonly #domain: DomainDetailOptions['domain'];

  constructor(source: DomainDetailOptions) {
    const { client, settings, domain } = source;
    this.#domain = domain;
    const { hostname } = domain();
    const known = async (signal: AbortSignal): Promise<Settings> =>
      settings.value ?? (await client.settings.get({}, { signal }));
    this.caa = new LiveQuery(source, ['records.changed', 'zones.changed', 'clock.changed'], async (signal) => {
      const { caaIdentity: identity } = await known(signal);
      const verdict = await client.caa.explain({ hostname, ...asked(this.rehearsal, identity) }, { signal });
      return { verdict, identity };
    });
    this.certificate = leafQuery(source, hostname);
    this.local = new LiveQuery(
      source,
      ['records.changed', 'zones.changed', 'clock.changed', 'domains.changed'],
      async (signal) => readLocalRecords(client, domain(), await known(signal), signal),
    );
    this.ordered = orderedNames(source, hostname);
    this.api = new LiveQuery(
      source,
      ['records.changed', 'zones.changed', 'clock.changed', 'domains.changed'],
      async (signal) => (isEmulated(domain()) ? await client.providers.ask({ hostname }, { signal }) : null),
    );
    let read = settings.value;
    this.#unfollow = settings.follow((value) => {
      if (value === read) return;
      read = value;
      this.caa.reread();
      this.local.reread();
    });
  }

  /** Walks for another CA or certificate type. */
  rehearse(changes: Partial<Rehearsal>): void {
    this.rehearsal = { ...this.rehearsal, ...changes };
    this.caa.reread();
  }

  endRehearsal(): void {
    this.rehearse(OWN);
  }

  close(): void {
    this.#unfollow();
    for (const query of [this.caa, this.certificate, this.local, this.ordered, this.api]) query.close();
  }
}

/** Whether the project imitates a provider whose API answers here. */
export const isEmulated = ({ persona }: Pick<Domain, 'persona'>): boolean =>
  PROVIDER_IDS.some((provider) => provider === persona?.id);

function asked({ issuer, wildcard, method, accountUri }: Rehearsal, identity: Settings['caaIdentity']) {
  return {
    wildcard,
    ...(issuer.trim() !== '' && { issuer: issuer.trim() }),
    method: method === '' ? identity.method : method,
    ...(accountUri.trim() !== '' && { accountUri: accountUri.trim() }),
  };
}
