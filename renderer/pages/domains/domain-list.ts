import type { Domain } from '../../../main/contract/domains.ts';
import { formatCount } from '../../shared/time/format.ts';
import { needsAttention, summaryOf, type Summary } from '../../shared/domains/domain-summary.ts';
import { compareNames, isNameFound } from '../../shared/domains/unicode-name.ts';

/** The list's filters. The values appear in the address. */
export const DOMAIN_FILTERS = [
  { value: 'all', label: 'All domains', matches: () => true },
  { value: 'attention', label: 'Needs attention', matches: needsAttention },
  { value: 'verified', label: 'Verified', matches: ({ state }) => state === 'verified' },
  { value: 'pending', label: 'Pending', matches: ({ state }) => state === 'pending' },
  { value: 'misconfigured', label: 'Misconfigured', matches: ({ state }) => state === 'misconfigured' },
  { value: 'suspended', label: 'Suspended', matches: ({ state }) => state === 'suspended' },
  { value: 'issued', label: 'Certificate issued', matches: ({ certificate }) => certificate.state === 'issued' },
  { value: 'waiting', label: 'Certificate pending', matches: ({ certificate }) => certificate.state === 'pending' },
  { value: 'failed', label: 'Certificate failed', matches: ({ certificate }) => certificate.state === 'failed' },
  { value: 'expired', label: 'Certificate expired', matches: ({ certificate }) => certificate.state === 'expired' },
] as const satisfies readonly { value: string; label: string; matches: (domain: Domain) => boolean }[];

export type DomainFilter = (typeof DOMAIN_FILTERS)[number]['value'];

/** The filter in an address; all by default. */
export const readFilter = (text: string | undefined): DomainFilter =>
  DOMAIN_FILTERS.find(({ value }) => value === text)?.value ?? 'all';

/** The filters with the number of matching domains, without empty ones. */
export function filterChoices(
  domains: readonly Domain[],
  chosen: DomainFilter,
): { value: DomainFilter; label: string }[] {
  return DOMAIN_FILTERS.flatMap(({ value, label, matches }) => {
    const count = domains.filter(matches).length;
    return count > 0 || value === 'all' || value === chosen
      ? [{ value, label: `${label} (${formatCount(count)})` }]
      : [];
  });
}

/** The columns that sort the list: what comes first needs action, or is due soonest. */
export const DOMAIN_SORTS = [
  { by: 'hostname', title: 'Hostname', keyOf: () => '' },
  { by: 'state', title: 'State', keyOf: ({ state }) => rankIn(STATES, state) },
  {
    by: 'certificate',
    title: 'Certificate',
    keyOf: ({ certificate: { state, notAfter = '' } }) => `${rankIn(CERTIFICATES, state)} ${notAfter}`,
  },
  {
    by: 'next',
    title: 'Next step',
    keyOf(domain) {
      const { tone, due, title } = summaryOf(domain);
      return `${rankIn(TONES, tone)} ${due?.at ?? '~'} ${title}`;
    },
  },
] as const satisfies readonly { by: string; title: string; keyOf: (domain: Domain) => string }[];

export interface DomainSort {
  by: (typeof DOMAIN_SORTS)[number]['by'];
  descending: boolean;
}

const STATES: readonly Domain['state'][] = ['misconfigured', 'pending', 'suspended', 'verified'];
const CERTIFICATES: readonly Domain['certificate']['state'][] = ['failed', 'expired', 'pending', 'none', 'issued'];

const TONES: readonly Summary['tone'][] = ['brick', 'amber', 'water', 'moss'];

const rankIn = <Rank>(ranks: readonly Rank[], rank: Rank): string => String(ranks.indexOf(rank));

/** The order in an address: `state`, `-state`; by hostname without one. */
export function readSort(text = ''): DomainSort {
  const by = DOMAIN_SORTS.find((sort) => sort.by === text.replace(/^-/, ''))?.by ?? 'hostname';
  return { by, descending: text.startsWith('-') };
}

/** The order after a click on a column: ascending, or reversed if it is sorted by it already. */
export function nextSort({ by, descending }: DomainSort, wanted: DomainSort['by']): string {
  if (by === wanted && !descending) return `-${wanted}`;
  return wanted === 'hostname' ? '' : wanted;
}

/** The domains that match a search and a filter. Equal ones are sorted by hostname. */
export function listDomains(
  domains: readonly Domain[],
  { search, filter, sort }: { search: string; filter: DomainFilter; sort?: DomainSort },
): Domain[] {
  const { matches } = DOMAIN_FILTERS.find(({ value }) => value === filter) ?? DOMAIN_FILTERS[0];
  const { keyOf } = DOMAIN_SORTS.find(({ by }) => by === sort?.by) ?? DOMAIN_SORTS[0];
  const listed = domains
    .filter((domain) => isNameFound(domain.hostname, search) && matches(domain))
    .map((domain) => ({ domain, key: keyOf(domain) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : compareNames(a.domain.hostname, b.domain.hostname)))
    .map(({ domain }) => domain);
  return sort?.descending === true ? listed.reverse() : listed;
}
