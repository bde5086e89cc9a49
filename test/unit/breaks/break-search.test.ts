import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../../main/breaks/catalogue/index.ts';
import { findEntries } from '../../../main/contract/break-words.ts';

const found = (search: string) => findEntries(CATALOGUE, search).map(({ id }) => id);

describe('the search in the catalogue', () => {
  it.each([
    ['latency', 'http.latency'],
    ['slow', 'http.latency'],
    ['delay', 'http.latency'],
    ['random', 'http.latency'],
    ['flaky', 'http.latency'],
    ['500', 'http.status'],
    ['error', 'http.status'],
    ['offline', 'http.status'],
    ['latency', 'connection.bandwidth'],
    ['slow', 'connection.bandwidth'],
    ['delay', 'connection.black-hole'],
    ['timeout', 'connection.black-hole'],
    ['random', 'api.unavailable'],
    ['flaky', 'connection.reset-mid-body'],
    ['500', 'api.error-after-commit'],
    ['error', 'api.unavailable'],
    ['offline', 'connection.refused'],
    ['Empty reply', 'http.empty-response'],
    ['err_name', 'dns.nxdomain'],
    ['names servfail', 'dns.servfail'],
  ])('finds by %s what there is', (search, id) => {
    expect(found(search)).toContain(id);
  });

  it('begins with the most used, in their order, and goes on with the API’s', () => {
    const all = findEntries(CATALOGUE, '');
    expect(all.slice(0, 3).map(({ id }) => id)).toEqual(['http.latency', 'http.status', 'api.unavailable']);
    expect(all.findIndex(({ mostUsed }) => mostUsed === undefined)).toBe(13);
    expect(all[13]).toMatchObject({ family: 'api' });
    expect(all).toHaveLength(CATALOGUE.length);
  });

  it('has keywords for entries of the catalogue only', () => {
    expect(CATALOGUE.filter(({ keywords }) => keywords !== undefined)).toHaveLength(30);
  });
});
