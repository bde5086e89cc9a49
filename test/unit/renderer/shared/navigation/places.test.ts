import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  factsOf,
  formatPlace,
  PAGE_NAMES,
  readPlace,
  type Place,
} from '../../../../../renderer/shared/navigation/places.ts';

const PLACES: readonly [address: string, place: Place][] = [
  ['/', { page: 'home' }],
  ['/projects/demo', { page: 'home', project: 'demo' }],
  ['/projects/demo/pets', { page: 'pets', project: 'demo' }],
  ['/pets', { page: 'pets' }],
  ['/projects/demo/pets?status=sold', { page: 'pets', project: 'demo', query: { status: 'sold' } }],
  ['/projects/demo/domains/shop.acme.test', { page: 'domains', project: 'demo', item: 'shop.acme.test' }],
  ['/projects', { page: 'projects' }],
  ['/dns/acme.test', { page: 'dns', item: 'acme.test' }],
  ['/certificates', { page: 'certificates' }],
  ['/projects/a%2Fb/keys-and-limits', { page: 'limits', project: 'a/b' }],
];

describe('the addresses of places', () => {
  it.each(PLACES)('%s is read, and written the same', (address, place) => {
    const { pathname, search } = new URL(address, 'http://page');
    expect(readPlace(pathname, search)).toEqual(place);
    expect(formatPlace(place)).toBe(address);
  });

  it.each(['/nowhere', '/projects/demo/nowhere', '/projects/demo/settings/1', '/dns/a/b', '/settings/x', '/%ff'])(
    '%s leads nowhere',
    (path) => {
      expect(readPlace(path)).toBeNull();
    },
  );

  it('are their own without a project as well', () => {
    for (const page of PAGE_NAMES) expect(readPlace(formatPlace({ page }))).toEqual({ page });
  });

  it('omit empty filters', () => {
    expect(readPlace('/pets', '?status=&search=')).toEqual({ page: 'pets' });
    expect(formatPlace({ page: 'pets', query: { status: '' } })).toBe('/pets');
  });
});

describe('the pages', () => {
  const facts = PAGE_NAMES.map(factsOf);

  it('are all views in the folders of pages, each once', () => {
    const files = globSync('**/*View.svelte', { cwd: 'renderer/pages' });
    expect(facts.map(({ view }) => `${view}.svelte`).sort()).toEqual(files.sort());
  });

  it('have shortcuts and addresses of their own', () => {
    const shortcuts = facts.flatMap(({ rail }) => rail?.shortcut ?? []);
    expect(new Set(shortcuts).size).toBe(shortcuts.length);
    expect(new Set(facts.map(({ scope, segment }) => `${scope} ${segment}`)).size).toBe(facts.length);
  });
});
