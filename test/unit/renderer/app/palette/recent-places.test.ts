// @vitest-environment ./test/support/page-environment.ts
import { expect, it } from 'vitest';
import type { ApiKey } from '../../../../../main/contract/callers.ts';
import type { BreakEntry } from '../../../../../main/contract/breaks.ts';
import type { Project } from '../../../../../main/contract/projects.ts';
import { RecentPlaces } from '../../../../../renderer/app/palette/recent-places.svelte.ts';
import { formatPlace, type Place } from '../../../../../renderer/shared/navigation/places.ts';
import { createMemoryStorage, KeptValues } from '../../../../../renderer/shared/session/storage.ts';

const PROJECTS = [
  { slug: 'demo', name: 'Demo' },
  { slug: 'paws', name: 'Happy Paws' },
] as Project[];
const BREAKS = [{ id: 'http.latency', title: 'Late answer' }] as BreakEntry[];
const KEYS = [{ projectId: 'prj_1', key: { id: 'key_1', name: 'Storefront' } as ApiKey }];

it('lists the things that were visited last, without the one shown and those that are gone', () => {
  const views = new KeptValues(createMemoryStorage(), '');
  const visited = new RecentPlaces(views);
  const here: Place = { page: 'domains', project: 'paws', item: 'xn--bcher-kva.test' };
  const led: string[] = [];
  const listed = (places: RecentPlaces, at: Place | null) =>
    places
      .commands(
        { projects: PROJECTS, breaks: BREAKS, keys: KEYS },
        { here: at, go: (place) => led.push(formatPlace(place)), runAt: () => undefined },
      )
      .map(({ title, detail, run }) => {
        run();
        return `${title}, ${detail}`;
      });
  for (const place of [
    { page: 'settings' },
    { page: 'breaks', item: 'http.latency' },
    { page: 'pets', project: 'demo' },
    { page: 'traffic', project: 'demo' },
    { page: 'domains', project: 'gone', item: 'old.test' },
    { page: 'dns', item: 'acme.test' },
    here,
  ] satisfies Place[])
    visited.note(place);
  expect(listed(visited, null)).toEqual([
    'bücher.test, Domains · Happy Paws',
    'acme.test, DNS',
    'Demo, Project',
    'Late answer, Break it',
  ]);
  expect(led).toEqual([
    '/projects/paws/domains/xn--bcher-kva.test',
    '/dns/acme.test',
    '/projects/demo',
    '/break-it/http.latency',
  ]);
  expect(listed(new RecentPlaces(views), here)).toEqual(['acme.test, DNS', 'Demo, Project', 'Late answer, Break it']);
});

it('lists nothing by an id, but its project', () => {
  const visited = new RecentPlaces(new KeptValues(createMemoryStorage(), ''));
  for (const place of [
    { page: 'traffic', project: 'demo', item: 'trf_mx0jyjij_66' },
    { page: 'limits', project: 'paws', item: 'key_1' },
    { page: 'limits', project: 'paws', item: 'key_gone' },
    { page: 'breaks', item: 'drill' },
    { page: 'acme', item: 'ord_1' },
  ] satisfies Place[])
    visited.note(place);
  const titles = visited
    .commands(
      { projects: PROJECTS, breaks: BREAKS, keys: KEYS },
      { here: null, go: () => undefined, runAt: () => undefined },
    )
    .map(({ title }) => title);
  expect(titles).toEqual(['Drills', 'Storefront', 'Demo']);
});
