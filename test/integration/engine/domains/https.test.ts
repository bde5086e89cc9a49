import type { TLSSocket } from 'node:tls';
import { describe, expect } from 'vitest';
import { demoTest as it, overTls } from '../../../support/engine-test.ts';
import type { Engine } from '../../../support/engine.ts';
import { requireTool } from '../../../support/tools.ts';
import { execute as run } from '../../../support/command.ts';

async function curl(engine: Engine, hostname: string, ...args: string[]): Promise<string> {
  const { https } = engine.app.runtime;
  const { stdout } = await run(requireTool('curl'), [
    ...['-sS', '--cacert', engine.app.runtime.caFile, '--resolve', `${hostname}:${https.port}:127.0.0.1`],
    ...['-H', `Authorization: Bearer ${engine.app.demoKey()?.secret}`],
    ...args,
    `https://${hostname}:${https.port}/v1/pets?limit=1`,
  ]);
  return stdout;
}

describe('HTTPS at the platform hostnames', () => {
  it.for([
    ['--http1.1', '1.1'],
    ['--http2', '2'],
  ] as const)('%s is verified by curl against the root', async ([option, version], { engine }) => {
    const facts = await curl(
      engine,
      'demo.vivarium.localhost',
      option,
      '-o',
      '/dev/null',
      '-w',
      '%{http_code} %{http_version} %{ssl_verify_result}',
    );
    expect(facts).toBe(`200 ${version} 0`);
  });

  it('pages link to the next page over HTTPS too', async ({ engine }) => {
    const headers = await curl(engine, 'demo.vivarium.localhost', '-D', '-', '-o', '/dev/null');
    const { port } = engine.app.runtime.https;
    expect(headers).toContain(`<https://demo.vivarium.localhost:${port}/v1/pets?limit=1&after=1>; rel="next"`);
  });

  it.for(['--http1.1', '--http2'])(
    'replaying a request made over %s uses HTTPS again',
    async (option, { engine, call }) => {
      await curl(engine, 'demo.vivarium.localhost', option);
      const list = async () => (await call('traffic.list', {})).items;
      await expect.poll(async () => (await list()).length).toBe(1);
      const [{ id, authority } = { id: '', authority: '' }] = await list();
      const again = await call('traffic.replay', { id });
      expect(again).toMatchObject({ scheme: 'https', authority, status: 200, replayOf: id });
    },
  );

  it('a hostname is served once its project is created, and refused once it is removed', async ({ engine, call }) => {
    await expect(curl(engine, 'new.vivarium.localhost')).rejects.toThrow(/unrecognized name/i);
    const project = await call('projects.create', { name: 'New' });
    expect(await curl(engine, 'new.vivarium.localhost')).toContain('"code":"unauthorized"');
    await call('projects.remove', { projectId: project.id });
    await expect(curl(engine, 'new.vivarium.localhost')).rejects.toThrow(/unrecognized name/i);
  });

  it.for([
    ['names no host is shown every name of this machine', undefined, 'vivarium.localhost localhost 127.0.0.1 ::1'],
    [
      'names the platform is shown no address, which BoringSSL would refuse',
      'vivarium.localhost',
      'vivarium.localhost',
    ],
  ])('a client that %s', async ([_what, servername, names], { engine }) => {
    const read = (socket: TLSSocket) => socket.getPeerX509Certificate()?.subjectAltName ?? '';
    const shown = await overTls(engine, { ...(servername !== undefined && { servername }) }, read);
    const parts = shown.replaceAll(/(DNS|IP Address):/g, '').replace('0:0:0:0:0:0:0:1', '::1');
    expect(parts.split(', ').join(' ')).toBe(names);
  });

  it.for([
    ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['TLSv1.2', 'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA', 'refused'],
    ['TLSv1.3', 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ] as const)('over %s a client that offers %s gets %s', async ([version, ciphers, expected], { engine }) => {
    const offer = { servername: 'demo.vivarium.localhost', minVersion: version, maxVersion: version, ciphers };
    const cipher = overTls(engine, offer, (socket) => socket.getCipher().name).catch(() => 'refused');
    expect(await cipher).toBe(expected);
  });

  it('the app’s clock may be years ahead: certificates stay valid for real clients', async ({ engine, call }) => {
    await call('clock.advance', { by: 'P7300D' });
    expect(await curl(engine, 'demo.vivarium.localhost', '-o', '/dev/null', '-w', '%{http_code}')).toBe('200');
  });
});
