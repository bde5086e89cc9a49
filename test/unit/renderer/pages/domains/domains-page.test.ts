// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { Domain } from '../../../../../main/contract/domains.ts';
import { Navigator } from '../../../../../renderer/shared/navigation/navigator.svelte.ts';
import { Announcer } from '../../../../../renderer/shared/session/announcer.svelte.ts';
import { DomainsPage, SELECT_DELAY_MS } from '../../../../../renderer/pages/domains/domains-page.svelte.ts';
import { Works } from '../../../../../renderer/shared/session/works.svelte.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { fakeBar } from '../../../../support/page/page-address.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

const SHOP = makeProject('Shop', { plan: 'pro' });

async function setUp(path = '/projects/shop/domains') {
  const bar = fakeBar(path);
  const { entries } = bar;
  let domains: Domain[] = ['a.acme.test', 'b.acme.test', 'c.acme.test'].map((hostname) => makeDomain(hostname));
  const parts = pageParts({
    'domains.list': () => domains,
    'domains.verify': ({ hostname }: { hostname: string }) => makeDomain(hostname, { state: 'misconfigured' }),
    'domains.export': () => ({ domains: [], primary: null, redirects: [] }),
    'domains.remove': ({ hostname }: { hostname: string }) => {
      domains = domains.filter((domain) => domain.hostname !== hostname);
      return makeDomain(hostname);
    },
    'domains.attach': ({ hostname }: { hostname: string }) => {
      domains = [...domains, makeDomain(hostname)];
    },
    'breaks.list': () => [],
    'domains.setPrimary': () => SHOP,
    'domains.setRedirects': () => SHOP,
    'projects.get': () => ({
      ...SHOP,
      primary: 'a.acme.test',
      redirects: [{ from: 'b.acme.test', to: 'c.acme.test', status: 301 }],
    }),
  });
  const works = new Works(parts.time);
  const page = new DomainsPage({
    ...parts.source,
    ...{ toasts: parts.toasts, works, navigator: new Navigator(bar), announcer: new Announcer(parts.time) },
    breaks: { again: () => Promise.resolve([]) },
    runs: { of: () => undefined },
    project: () => SHOP,
  });
  await settle();
  const lists = () => parts.asked('domains.list').length;
  return { ...parts, page, lists, entries, address: () => entries.at(-1), works };
}

describe('the Domains page', () => {
  it('keeps what it shows in the address, and the filters while another domain is chosen', async () => {
    const { page, address } = await setUp();
    page.setQuery({ search: 'acme', filter: 'verified' });
    expect(page.hrefOf('b.acme.test')).toBe('/projects/shop/domains/b.acme.test?search=acme&state=verified');
    page.show('b.acme.test');
    expect([address(), page.chosen?.hostname]).toEqual([page.hrefOf('b.acme.test'), 'b.acme.test']);
    page.setQuery({ search: '', filter: 'all' });
    page.show(undefined);
    expect([address(), page.chosen]).toEqual(['/projects/shop/domains', undefined]);
  });

  it('shows the last of the domains that the arrow keys pass, and leaves one entry in the history', async () => {
    const { page, time, entries } = await setUp('/projects/shop/domains/a.acme.test');
    page.showSoon('b.acme.test');
    await time.pass(SELECT_DELAY_MS - 1);
    page.showSoon('c.acme.test');
    await time.pass(SELECT_DELAY_MS - 1);
    expect(page.item).toBe('a.acme.test');
    await time.pass(1);
    expect(entries).toEqual(['/projects/shop/domains/c.acme.test']);
  });

  it('keeps in the address that a domain is attached, and shows it afterwards', async () => {
    const { page, address } = await setUp('/projects/shop/domains/a.acme.test?state=verified');
    page.beginAttaching();
    const address1 = '/projects/shop/domains?state=verified&attach=name';
    expect([page.attaching, page.item, address()]).toEqual([true, undefined, address1]);
    page.attached('b.acme.test');
    expect([page.attaching, page.awaited, address()]).toEqual([false, false, '/projects/shop/domains/b.acme.test']);
    page.attached('new.acme.test');
    expect([page.awaited, page.chosen]).toEqual([true, undefined]);
    page.show('never.acme.test');
    expect(page.awaited).toBe(false);
    page.show('b.acme.test');
    page.show('b.acme.test');
    page.show(undefined);
    expect([page.attaching, address()]).toEqual([false, '/projects/shop/domains']);
  });

  it('shows the result of a check without reading all domains again', async () => {
    const { page, lists } = await setUp();
    await page.actions.verify('b.acme.test');
    expect(page.domains.value?.map(({ state }) => state)).toEqual(['verified', 'misconfigured', 'verified']);
    expect(lists()).toBe(1);
  });

  it('returns to the list when the visible domain is removed', async () => {
    const { page } = await setUp('/projects/shop/domains/a.acme.test');
    expect(await page.remove(makeDomain('b.acme.test'))).toBe(true);
    expect(page.item).toBe('a.acme.test');
    await page.remove(makeDomain('a.acme.test'));
    expect(page.item).toBeUndefined();
  });

  it('removes several domains; one Undo attaches them again, with their project’s settings for them', async () => {
    const { page, said, undo, works, changed } = await setUp('/projects/shop/domains/a.acme.test?sort=-state');
    for (const [at, hostname] of ['a.acme.test', 'b.acme.test'].entries()) page.selection.toggle(hostname, at);
    page.removeAll(page.selection.ids);
    await settle();
    expect([page.item, page.selection.size, page.sort]).toEqual([undefined, 0, { by: 'state', descending: true }]);
    expect(said()).toEqual(['Removed 2 domains: no longer served, and without certificates.']);
    await undo();
    expect(works.list.map(({ result }) => result)).toEqual(['2 domains attached again: 0 verified.']);
    expect(changed()).toEqual([
      ...['domains.remove', 'domains.remove'],
      ...['domains.attach', 'domains.verify', 'domains.attach', 'domains.verify'],
      ...['domains.setPrimary', 'domains.setRedirects'],
    ]);
  });

  it('starts the redirect form for a domain once', async () => {
    const { page } = await setUp('/projects/shop/domains/a.acme.test');
    page.redirect(makeDomain('a.acme.test'));
    page.redirect(makeDomain('a.acme.test'));
    const from = page.redirects.rows.map((row) => row.from);
    expect([page.part, page.item, from]).toEqual(['redirects', undefined, ['a.acme.test']]);
  });

  it.each([
    ['domains.changed', 'prj_shop', true],
    ['domains.changed', 'prj_other', false],
    ['zones.changed', undefined, true],
    ['clock.changed', undefined, true],
    ['pets.changed', 'prj_shop', false],
  ] as const)('reads again after %s of %s: %s', async (type, projectId, expected) => {
    const { time, tell, lists } = await setUp();
    await time.pass(5_000);
    const before = lists();
    await tell(type, { ...(projectId !== undefined && { projectId }) });
    expect(lists() > before).toBe(expected);
  });
});
