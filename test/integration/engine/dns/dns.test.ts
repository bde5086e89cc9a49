import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { demoTest as it, emptyTest } from '../../../support/engine-test.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { requireTool } from '../../../support/tools.ts';

const run = promisify(execFile);

/** The status and the short answers of one question to the engine's DNS server. */
async function dig(engine: Engine, ...question: string[]): Promise<{ status: string; answers: string[] }> {
  const { stdout } = await run(requireTool('dig'), [
    ...['@127.0.0.1', '-p', String(engine.app.runtime.dns.port), '+noall', '+comments', '+answer', '+tries=1'],
    ...question,
  ]);
  const answers = stdout.split('\n').filter((line) => line !== '' && !line.startsWith(';'));
  return {
    status: /status: (\w+)/.exec(stdout)?.[1] ?? '',
    answers: answers.map((line) => line.split(/\s+/).slice(3).join(' ')),
  };
}

describe('the platform zone', () => {
  it.each([
    ['demo.vivarium.localhost', 'A', 'NOERROR', ['A 127.0.0.1']],
    ['demo-staging.vivarium.localhost', 'AAAA', 'NOERROR', ['AAAA ::1']],
    ['cname.vivarium.localhost', 'A', 'NOERROR', ['A 127.0.0.1']],
    ['demo.vivarium.localhost', 'TXT', 'NOERROR', []],
    ['nobody.vivarium.localhost', 'A', 'NXDOMAIN', []],
    ['example.com', 'A', 'REFUSED', []],
  ])('%s %s: %s %j', async (name, type, status, answers) => {
    expect(await dig(await startEngine(), name, type)).toEqual({ status, answers });
  });

  it('follows changes of the projects', async ({ engine, call }) => {
    const project = await call('projects.create', { name: 'Shop' });
    expect((await dig(engine, 'shop.vivarium.localhost', '+tcp')).answers).toEqual(['A 127.0.0.1']);
    await call('projects.remove', { projectId: project.id });
    expect((await dig(engine, 'shop.vivarium.localhost')).status).toBe('NXDOMAIN');
  });
});

it('gives served hostnames an HTTPS record with the port, until they are removed or a setting turns it off', async ({
  engine,
  call,
}) => {
  const record = `HTTPS 1 . alpn="h2" port=${engine.app.runtime.https.port}`;
  const ask = async (name: string) => (await dig(engine, name, 'HTTPS')).answers;
  expect(await ask('demo.vivarium.localhost')).toEqual([record]);
  // The demo's domains: one served by CNAME, one attached without a certificate.
  expect(await ask('www.happypaws.test')).toEqual(['CNAME cname.vivarium.localhost.', record]);
  expect(await ask('shop.happypaws.test')).not.toContain(record);
  expect(await ask('cname.vivarium.localhost')).toEqual([]);
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
