import { describe, expect } from 'vitest';
import { demoTest as it, emptyTest } from '../../../support/engine-test.ts';
import { asked } from '../../../support/dns/dns-dig.ts';
import type { Engine } from '../../../support/engine.ts';

const dig = ({ app }: Engine, name: string, ...more: string[]) => asked(app.runtime.dns.port, name, ...more);

describe('the platform zone', () => {
  it.for([
    ['demo.vivarium.localhost', 'A', 'NOERROR | A 127.0.0.1'],
    ['demo-staging.vivarium.localhost', 'AAAA', 'NOERROR | AAAA ::1'],
    ['cname.vivarium.localhost', 'A', 'NOERROR | A 127.0.0.1'],
    ['demo.vivarium.localhost', 'TXT', 'NOERROR'],
    ['nobody.vivarium.localhost', 'A', 'NXDOMAIN'],
    ['example.com', 'A', 'REFUSED'],
  ] as const)('%s %s: %s', async ([name, type, said], { engine }) => {
    expect(await dig(engine, name, type)).toBe(said);
  });

  it('follows changes of the projects', async ({ engine, call }) => {
    const project = await call('projects.create', { name: 'Shop' });
    expect(await dig(engine, 'shop.vivarium.localhost', 'A', '+tcp')).toBe('NOERROR | A 127.0.0.1');
    await call('projects.remove', { projectId: project.id });
    expect(await dig(engine, 'shop.vivarium.localhost')).toBe('NXDOMAIN');
  });
});

it('gives served hostnames an HTTPS record with the port, until removed or turned off', async ({ engine, call }) => {
  const record = `HTTPS 1 . alpn="h2" port=${engine.app.runtime.https.port}`;
  const ask = async (name: string) => (await dig(engine, name, 'HTTPS')).split(' | ').slice(1);
  expect(await ask('demo.vivarium.localhost')).toEqual([record]);
  // The demo's domains: one served by CNAME, one attached without a certificate.
  expect(await ask('www.happypaws.test')).toEqual(['CNAME cname.vivarium.localhost.', record]);
  expect(await ask('shop.happypaws.test')).not.toContain(record);
  expect(await ask('cname.vivarium.localhost')).toEqual([]);
  await call('domains.attach', { projectId: 'happy-paws', hostname: '*.acme.test', local: true });
  expect(await ask('any.acme.test')).toContain(record);
  await call('settings.update', { httpsRecords: false });
  expect(await ask('demo.vivarium.localhost')).toEqual([]);
  await call('settings.update', { httpsRecords: true });
  await call('domains.remove', { hostname: 'www.happypaws.test' });
  expect(await ask('www.happypaws.test')).toEqual(['CNAME cname.vivarium.localhost.']);
  const own = { zone: 'happypaws.test', name: 'x', type: 'HTTPS', value: '1 . alpn=h3 port=1' };
  await call('records.put', own);
  expect(await ask('x.happypaws.test')).toEqual(['HTTPS 1 . alpn="h3" port=1']);
  const numbered = { zone: 'happypaws.test', name: 'x', type: 'TYPE65280', value: '\\# 2 c0ff' };
  expect(await call('records.put', numbered)).toMatchObject({ type: 'TYPE65280', value: '\\# 2 C0FF' });
});

emptyTest.for(['', 'BOGUS', 'A-B'])(
  'an unknown question type "%s" is refused with what to write',
  async (type, { call }) => {
    await expect(call('dns.query', { name: 'www.acme.test', type })).rejects.toThrow(/record type.*TYPE65/);
  },
);
