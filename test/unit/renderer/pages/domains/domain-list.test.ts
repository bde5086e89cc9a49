import { describe, expect, it } from 'vitest';
import {
  filterChoices,
  listDomains,
  nextSort,
  readFilter,
  readSort,
} from '../../../../../renderer/pages/domains/domain-list.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';

const DOMAINS = [
  makeDomain('tenant-10.acme.test'),
  makeDomain('tenant-2.acme.test', { state: 'pending', certificate: { state: 'none' } }),
  makeDomain('acme.test'),
  makeDomain('www.acme.test', { state: 'misconfigured' }),
  makeDomain('acme.example', { certificate: { state: 'pending', reason: 'issuance_pending' } }),
  makeDomain('shop.acme.example', { state: 'suspended' }),
];

const names = (search: string, filter = 'all', sort = '') =>
  listDomains(DOMAINS, { search, filter: readFilter(filter), sort: readSort(sort) }).map(({ hostname }) => hostname);

describe('the list of domains', () => {
  it('is in the order of the names, with numbers in numeric order', () => {
    expect(names('')).toEqual([
      'acme.example',
      'acme.test',
      'shop.acme.example',
      'tenant-2.acme.test',
      'tenant-10.acme.test',
      'www.acme.test',
    ]);
  });

  it('can be searched by a part of the name, in any case, ignoring blanks', () => {
    expect(names(' TENANT ')).toEqual(['tenant-2.acme.test', 'tenant-10.acme.test']);
  });

  it('is in the order of the names as they are shown, and searched in both forms', () => {
    const shown = ['zoo.test', 'xn--bcher-kva.test', 'art.test'].map((name) => makeDomain(name));
    const list = (search: string) => listDomains(shown, { search, filter: 'all' }).map(({ hostname }) => hostname);
    expect(list('')).toEqual(['art.test', 'xn--bcher-kva.test', 'zoo.test']);
    expect([list('Bücher'), list('xn--b')]).toEqual([['xn--bcher-kva.test'], ['xn--bcher-kva.test']]);
  });

  it('can be filtered by what needs attention, which excludes what resolves automatically', () => {
    expect(names('', 'attention')).toEqual(['shop.acme.example', 'tenant-2.acme.test', 'www.acme.test']);
  });

  it('can be filtered by search and state together; an unknown state is ignored', () => {
    expect(names('acme.test', 'verified')).toEqual(['acme.test', 'tenant-10.acme.test']);
    expect(names('acme.test', 'nonsense')).toHaveLength(4);
  });

  it.each([
    ['-hostname', ['www.acme.test', 'tenant-10.acme.test', 'tenant-2.acme.test', 'shop.acme.example']],
    ['state', ['www.acme.test', 'tenant-2.acme.test', 'shop.acme.example', 'acme.example']],
    ['-state', ['tenant-10.acme.test', 'acme.test', 'acme.example', 'shop.acme.example']],
    ['certificate', ['acme.example', 'tenant-2.acme.test', 'acme.test', 'shop.acme.example']],
    ['next', ['tenant-2.acme.test', 'www.acme.test', 'shop.acme.example', 'acme.example']],
    ['nothing', ['acme.example', 'acme.test', 'shop.acme.example', 'tenant-2.acme.test']],
  ])('is sorted by %s, equal ones by name', (sort, first) => {
    expect(names('', 'all', sort).slice(0, 4)).toEqual(first);
  });

  it('sorted by the next step has what is due soonest first, and what is not due last', () => {
    const issuedAt = (hostname: string, at?: string) =>
      makeDomain(hostname, { certificate: { state: 'pending', ...(at !== undefined && { nextAttemptAt: at }) } });
    const domains = [issuedAt('a.test'), issuedAt('b.test', '2027-02-01'), issuedAt('c.test', '2027-01-01')];
    const sorted = listDomains(domains, { search: '', filter: 'all', sort: readSort('next') });
    expect(sorted.map(({ hostname }) => hostname)).toEqual(['c.test', 'b.test', 'a.test']);
  });

  it.each([
    ['', 'hostname', '-hostname'],
    ['-hostname', 'hostname', ''],
    ['', 'state', 'state'],
    ['state', 'state', '-state'],
    ['-state', 'state', 'state'],
    ['-state', 'hostname', ''],
  ] as const)('sorted by %j, a click on %s sorts by %j', (sort, by, next) => {
    expect(nextSort(readSort(sort), by)).toBe(next);
  });

  it('offers the filters that would show something, and the chosen one', () => {
    expect(filterChoices(DOMAINS, 'expired').map(({ label }) => label)).toEqual([
      'All domains (6)',
      'Needs attention (3)',
      'Verified (3)',
      'Pending (1)',
      'Misconfigured (1)',
      'Suspended (1)',
      'Certificate issued (4)',
      'Certificate pending (1)',
      'Certificate expired (0)',
    ]);
  });
});
