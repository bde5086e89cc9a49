import { describe, expect, it } from 'vitest';
import type { Domain } from '../../../../../main/contract/domains.ts';
import { mainAddress, otherAddresses } from '../../../../../renderer/shared/project/main-address.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

const served = (hostname: string, rest: Partial<Domain> = {}): Domain =>
  makeDomain(hostname, { serving: { http: true, https: true }, ...rest });
const pending = (hostname: string): Domain => makeDomain(hostname, { serving: { http: false, https: false } });

describe('the main address of a project', () => {
  const PLATFORM = 'https://demo.vivarium.localhost:8443';
  const httpOnly = served('b.test', { serving: { http: true, https: false } });
  it.each<[what: string, domains: readonly Domain[], primary: string | undefined, url: string]>([
    ['the platform’s without a domain', [], undefined, PLATFORM],
    ['the platform’s while no domain is served', [pending('a.test')], undefined, PLATFORM],
    [
      'the first served domain',
      [pending('a.test'), served('b.test'), served('c.test')],
      undefined,
      'https://b.test:8443',
    ],
    ['the primary one before others', [served('b.test'), served('c.test')], 'c.test', 'https://c.test:8443'],
    ['the primary one even if not served', [served('b.test'), pending('c.test')], 'c.test', 'https://c.test:8443'],
    ['no wildcard', [served('*.b.test', { example: 'x.b.test' }), served('c.test')], undefined, 'https://c.test:8443'],
    ['no source of a redirect', [served('www.test'), served('c.test')], undefined, 'https://c.test:8443'],
    ['over HTTP until there is a certificate', [httpOnly], undefined, 'http://b.test:8080'],
  ])('is %s', (_what, domains, primary, url) => {
    const project = {
      ...makeProject('Demo', primary === undefined ? {} : { hostname: primary }),
      redirects: [{ from: 'www.test', to: 'c.test', status: 301 as const }],
    };
    expect(mainAddress(project, domains).url).toBe(url);
  });

  it('leaves the others: custom ones first, then the platform’s of both environments', () => {
    const domains = [served('b.test'), served('*.c.test', { example: 'x.c.test' }), pending('d.test')];
    expect(otherAddresses(makeProject('Demo'), domains).map(({ url }) => url)).toEqual([
      'https://x.c.test:8443',
      'https://demo.vivarium.localhost:8443',
      'http://demo.vivarium.localhost:8080',
      'https://demo-staging.vivarium.localhost:8443',
      'http://demo-staging.vivarium.localhost:8080',
    ]);
  });
});
