// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Navigator } from '../../../../../renderer/shared/navigation/navigator.svelte.ts';
import { fakeBar } from '../../../../support/page/page-address.ts';

/** A navigator in a browser that shows this address. */
function at(address: string) {
  const bar = fakeBar(address);
  return { bar, navigator: new Navigator(bar) };
}

describe('the navigator', () => {
  it('begins at the address, goes to other places, and returns', () => {
    const { bar, navigator } = at('/projects/demo/pets');
    expect(navigator.place).toEqual({ page: 'pets', project: 'demo' });
    navigator.go({ page: 'dns', item: 'acme.test' });
    expect(bar.entries).toEqual(['/projects/demo/pets', '/dns/acme.test']);
    bar.back();
    expect(navigator.place?.page).toBe('pets');
    expect(navigator.visits).toBe(2);
  });

  it('adds no entry for the current place', () => {
    const { bar, navigator } = at('/pets');
    navigator.go({ page: 'pets' });
    expect(bar.entries).toEqual(['/pets']);
    expect(navigator.visits).toBe(0);
  });

  it('filters a page without adding an entry, and drops empty parameters', () => {
    const { bar, navigator } = at('/projects/demo/pets');
    navigator.setQuery({ status: 'sold', search: 'rex' });
    navigator.setQuery({ status: undefined });
    expect(bar.entries).toEqual(['/projects/demo/pets?search=rex']);
    expect(navigator.query).toEqual({ search: 'rex' });
    navigator.setQuery({ search: '' });
    expect(bar.entries).toEqual(['/projects/demo/pets']);
    expect(navigator.visits).toBe(0);
  });

  it('shows another item of a page without a page change, so that the focus stays', () => {
    const { bar, navigator } = at('/projects/demo/domains?state=verified');
    navigator.show('www.acme.test');
    navigator.show('shop.acme.test', { replace: true });
    navigator.show('shop.acme.test');
    expect(bar.entries).toEqual([
      '/projects/demo/domains?state=verified',
      '/projects/demo/domains/shop.acme.test?state=verified',
    ]);
    navigator.show(undefined);
    expect(navigator.place).toEqual({ page: 'domains', project: 'demo', query: { state: 'verified' } });
    expect(navigator.visits).toBe(0);
  });

  it('leaves foreign addresses to the browser', () => {
    const { bar, navigator } = at('/');
    expect(navigator.goTo('/api/openapi.json', '')).toBe(false);
    expect(navigator.goTo('/settings', '')).toBe(true);
    expect(bar.entries).toEqual(['/', '/settings']);
  });

  it('recognises an unknown address', () => {
    const { navigator } = at('/nowhere');
    expect([navigator.place, navigator.address]).toEqual([null, '/nowhere']);
  });
});
