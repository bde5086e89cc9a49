import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { describe, expect } from 'vitest';
import { demoTest as it, emptyTest } from '../../support/engine-test.ts';
import { type Engine, startEngine, restarted } from '../../support/engine.ts';
import { runIn } from '../../support/sqlite.ts';

const projectsOf = async (engine: Engine) => await engine.call('projects.list');

/** Each domain with its two states and the codes of its problems. */
async function domainsOf(engine: Engine): Promise<string[]> {
  const domains = await engine.call('domains.list');
  return domains.map(({ hostname, state, certificate, checks }) =>
    [
      ...[hostname, state, certificate.state],
      ...checks.filter(({ outcome }) => outcome === 'failed').map(({ code }) => code),
    ].join(' '),
  );
}

const AS_MADE = [
  'www.happypaws.test verified issued',
  'shop.happypaws.test misconfigured none wrong_target',
  'happypaws.example verified pending caa_forbids',
];

describe('the first start', () => {
  it('creates a Pro project with one served and two unserved domains, and Demo as the newest', async ({ engine }) => {
    const { call, api } = engine;
    expect((await projectsOf(engine)).map(({ name, plan }) => `${name}, ${plan}`)).toEqual([
      'Demo, free',
      'Happy Paws, pro',
    ]);
    expect(await domainsOf(engine)).toEqual(AS_MADE);
    expect((await api({ host: 'www.happypaws.test', path: '/v1/openapi.json' })).status).toBe(200);
    const { base64 } = (await call('certificates.export', { hostname: 'www.happypaws.test', format: 'der' })) as {
      base64: string;
    };
    const url = `http://127.0.0.1:${engine.app.runtime.http.port}`;
    const leaf = Buffer.from(base64, 'base64').toString('latin1');
    expect(leaf).toContain(`${url}/intermediate.crl`);
    const [address] = new RegExp(`${url}/intermediate\\.crt`).exec(leaf) ?? [];
    const issuer = await fetch(address ?? '');
    expect(issuer.headers.get('content-type')).toBe('application/pkix-cert');
    const signer = new X509Certificate(Buffer.from(await issuer.arrayBuffer()));
    expect(new X509Certificate(Buffer.from(base64, 'base64')).verify(signer.publicKey)).toBe(true);
  });

  it('creates data that a later start keeps', async () => {
    const engine = await restarted(await startEngine());
    expect(await projectsOf(engine)).toHaveLength(2);
    expect(await domainsOf(engine)).toEqual(AS_MADE);
  });

  it('creates the demo once: removed parts do not come back', async () => {
    const first = await startEngine();
    const [, pro] = await projectsOf(first);
    await first.call('projects.remove', { projectId: pro?.id });
    await first.call('zones.remove', { name: 'happypaws.test' });
    const engine = await restarted(first);
    expect((await projectsOf(engine)).map(({ name }) => name)).toEqual(['Demo']);
    expect(await domainsOf(engine)).toEqual([]);
    expect(await engine.call('zones.list')).toMatchObject([{ name: 'happypaws.example' }]);
  });

  it('is completed later if it was interrupted', async () => {
    const first = await startEngine();
    await first.stop();
    runIn(
      join(first.dataDir, 'vivarium.db'),
      `DELETE FROM settings WHERE name = 'firstStartAt'; DELETE FROM zones WHERE name = 'happypaws.test'`,
    );
    const engine = await startEngine({ dataDir: first.dataDir });
    expect(await projectsOf(engine)).toHaveLength(2);
    expect(await domainsOf(engine)).toEqual(AS_MADE);
    expect((await engine.api()).status).toBe(200);
  });
});

describe('the demo made later', () => {
  emptyTest('is complete, with a readable key until that is revoked', async ({ engine, call, api }) => {
    const { id: projectId } = await call('projects.demo');
    expect((await projectsOf(engine)).map(({ slug }) => slug)).toEqual(['demo', 'happy-paws']);
    expect(await domainsOf(engine)).toEqual(AS_MADE);
    const { keyId, secret } = await call('keys.readable', { projectId });
    expect((await api({ key: secret })).status).toBe(200);
    expect(await call('keys.readable', { projectId: 'happy-paws' })).toEqual({});
    await call('keys.revoke', { keyId });
    expect(await call('keys.readable', { projectId })).toEqual({});
  });

  emptyTest(
    'replaces nothing: a name that is taken stops it, and leaves nothing of it behind',
    async ({ engine, call }) => {
      await call('zones.create', { name: 'happypaws.test' });
      await expect(call('projects.demo')).rejects.toThrow('The demo would make the zone happypaws.test');
      await call('zones.remove', { name: 'happypaws.test' });
      const { id: projectId } = await call('projects.create', { name: 'Mine', plan: 'pro' });
      await call('deploys.create', { projectId });
      await call('domains.attach', { projectId, hostname: 'www.happypaws.test' });
      await expect(call('projects.demo')).rejects.toThrow('www.happypaws.test');
      expect((await projectsOf(engine)).map(({ name }) => name)).toEqual(['Mine']);
      expect(await call('zones.list')).toEqual([]);
    },
  );
});

it('a blocked domain of the demo gets its certificate when its check’s advice is followed', async ({ call }) => {
  const records = await call('records.list', { zone: 'happypaws.example' });
  const caa = records.find(({ type }) => type === 'CAA');
  await call('records.remove', { id: caa?.id });
  expect(await call('domains.verify', { hostname: 'happypaws.example' })).toMatchObject({
    certificate: { state: 'issued' },
  });
});
