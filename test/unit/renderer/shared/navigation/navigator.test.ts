// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Navigator } from '../../../../../renderer/shared/navigation/navigator.svelte.ts';
import { fakeBar } from '../../../../support/page/page-address.ts';

describe('the navigator', () => {
  it('begins at the address, goes to other places, and returns', () => {
    const bar = fakeBar('/projects/demo/pets');
    const navigator = new Navigator(bar);
    expect(navigator.place).toEqual({ page: 'pets', project: 'demo' });
    navigator.go({ page: 'dns', item: 'acme.test' });
    expect(bar.entries).toEqual(['/projects/demo/pets', '/dns/acme.test']);
    bar.back();
    expect(navigator.place?.page).toBe('pets');
    expect(navigator.visits).toBe(2);
  });

  it('adds no entry for the current place', () => {
    const bar = fakeBar('/pets');
    const navigator = new Navigator(bar);
    navigator.go({ page: 'pets' });
    expect(bar.entries).toEqual(['/pets']);
    expect(navigator.visits).toBe(0);
  });

  it('filters a page without adding an entry, and drops empty parameters', () => {
    const bar = fakeBar('/projects/demo/pets');
    const navigator = new Navigator(bar);
    navigator.setQuery({ status: 'sold', search: 'rex' });
    navigator.setQuery({ status: undefined });
    expect(bar.entries).toEqual(['/projects/demo/pets?search=rex']);
    expect(navigator.query).toEqual({ search: 'rex' });
    navigator.setQuery({ search: '' });
    expect(bar.entries).toEqual(['/projects/demo/pets']);
    expect(navigator.visits).toBe(0);
  });

  it('shows another item of a page without a page change, so that the focus stays', () => {
    const bar = fakeBar('/projects/demo/domains?state=verified');
    const navigator = new Navigator(bar);
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
    const bar = fakeBar('/');
    const navigator = new Navigator(bar);
    expect(navigator.goTo('/api/openapi.json', '')).toBe(false);
    expect(navigator.goTo('/settings', '')).toBe(true);
    expect(bar.entries).toEqual(['/', '/settings']);
  });

  it('recognises an unknown address', () => {
    const navigator = new Navigator(fakeBar('/nowhere'));
    expect([navigator.place, navigator.address]).toEqual([null, '/nowhere']);
  });
});
