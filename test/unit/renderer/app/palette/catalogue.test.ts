import { describe, expect, it } from 'vitest';
import type { BreakEntry } from '../../../../../main/contract/breaks.ts';
import type { Domain } from '../../../../../main/contract/domains.ts';
import type { Project } from '../../../../../main/contract/projects.ts';
import { catalogueOf, domainFamily, type Named } from '../../../../../renderer/app/palette/catalogue.ts';
import { findCommands } from '../../../../../renderer/app/palette/find-commands.ts';
import { formatPlace, type Place } from '../../../../../renderer/shared/navigation/places.ts';

const project = (id: string, name: string, slug: string) => ({ id, name, slug, target: { kind: 'api' } }) as Project;
const DEMO = project('prj_1', 'Demo', 'demo');

const NAMED: Named = {
  projects: [DEMO, project('prj_2', 'Happy Paws', 'happy-paws')],
  current: DEMO,
  domains: ['shop.acme.test', 'xn--bcher-kva.test'].map(
    (hostname) => ({ hostname, projectId: 'prj_2', certificate: { state: 'issued' } }) as Domain,
  ),
  zones: [{ name: 'acme.test' }],
  keys: [{ projectId: 'prj_2', key: { id: 'key_1', name: 'Storefront', prefix: 'viv_abcd', createdAt: '' } }],
  breaks: [
    { id: 'dns.servfail', title: 'SERVFAIL' } as BreakEntry,
    { id: 'http.latency', title: 'Late answer', keywords: 'latency slow' } as BreakEntry,
    { id: 'tls.sha1', title: 'SHA-1', impossible: 'OpenSSL refuses it.' } as BreakEntry,
  ],
};

/** The best result for a text: its title, what it acts on, and where choosing it leads. */
function best(text: string, here: Place = { page: 'home', project: 'demo' }) {
  const led: string[] = [];
  const go = (place: Place) => led.push(formatPlace(place));
  const navigation = { here, go, runAt: (place: Place, id: string) => led.push(`${formatPlace(place)} ${id}`) };
  const [found] = findCommands(catalogueOf(NAMED, navigation), text, [], [domainFamily(NAMED, navigation)]).flatMap(
    ({ items }) => items,
  );
  found?.command.run();
  return [found?.command.title, found?.command.detail, ...led];
}

describe('the palette’s catalogue', () => {
  it.each([
    ['happy', ['Happy Paws', 'happy-paws', '/projects/happy-paws']],
    ['happy pets', ['Pets', 'Happy Paws', '/projects/happy-paws/pets']],
    ['shop.acme', ['shop.acme.test', 'Happy Paws', '/projects/happy-paws/domains/shop.acme.test']],
    [
      'verify shop',
      ['Verify shop.acme.test', 'Happy Paws', '/projects/happy-paws/domains/shop.acme.test domain-verify'],
    ],
    ['büch', ['bücher.test', 'Happy Paws', '/projects/happy-paws/domains/xn--bcher-kva.test']],
    ['certificate xn--bch', ['Show the certificate of bücher.test', 'Happy Paws', '/certificates/xn--bcher-kva.test']],
    [
      'requests shop',
      [
        'Show the requests to shop.acme.test',
        'Happy Paws',
        '/projects/happy-paws/traffic?filter=host%3Ashop.acme.test',
      ],
    ],
    ['storefront', ['Storefront', 'viv_abcd… · Happy Paws', '/projects/happy-paws/keys-and-limits/key_1']],
    ['viv_abc', ['Storefront', 'viv_abcd… · Happy Paws', '/projects/happy-paws/keys-and-limits/key_1']],
    ['new key', ['New API key', 'Demo', '/projects/demo/keys-and-limits new-key']],
    ['trust', ['Trust the root on this machine', undefined, '/authority']],
    ['propag', ['Propagation', 'Propagation and resolver', '/dns?field=Propagation']],
    ['slug', ['Slug', 'Name and address · Demo', '/projects/demo/settings?field=Slug']],
    ['zone acme.test', ['acme.test', 'DNS', '/dns/acme.test']],
    ['record acme', ['Add a record to acme.test', 'DNS', '/dns/acme.test record-new']],
    ['slow', ['Break: Late answer', 'http.latency', '/break-it/http.latency']],
    ['add pet', ['Add a pet', 'Demo', '/projects/demo/pets add-pet']],
  ])('finds by “%s”', (text, expected) => {
    expect(best(text)).toEqual(expected);
  });

  it('breaks the domain that is shown, and offers nothing that is impossible', () => {
    expect(best('break sha')[0]).not.toBe('Break: SHA-1');
    expect(best('break servfail')).toEqual(['Break: SERVFAIL', 'dns.servfail', '/break-it/dns.servfail']);
    expect(best('servfail', { page: 'domains', project: 'happy-paws', item: 'shop.acme.test' }).at(-1)).toBe(
      '/break-it/dns.servfail?hostname=shop.acme.test',
    );
  });

  it('offers no pets and no description of a project that leads to another server', () => {
    const shop = { ...DEMO, id: 'prj_3', target: { kind: 'upstream' } } as Project;
    const navigation = { here: null, go: () => undefined, runAt: () => undefined };
    const ids = catalogueOf({ ...NAMED, projects: [shop], current: DEMO }, navigation).map(({ id }) => id);
    expect(ids).toContain('project-prj_3-traffic');
    expect(ids).not.toContain('project-prj_3-pets');
    expect(ids).not.toContain('project-prj_3-api');
    const own = catalogueOf({ ...NAMED, current: shop }, navigation).map(({ id }) => id);
    expect(own).not.toContain('add-pet');
  });

  it('has each command once', () => {
    const ids = catalogueOf(NAMED, { here: null, go: () => undefined, runAt: () => undefined }).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
