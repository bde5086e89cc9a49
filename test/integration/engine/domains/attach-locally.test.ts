import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { demoTest, domainsTest as it, ISSUED, startDomainsEngine, TARGET } from '../../../support/engine-test.ts';
import type { AttachedLocally } from '../../../../main/contract/domains.ts';
import { runHere } from '../../../support/cli-io.ts';
import { startEngine } from '../../../support/engine.ts';
import { startUpstream } from '../../../support/upstream-server.ts';

const lines = ({ steps = [] }: AttachedLocally): string[] =>
  steps.map(({ step, ok, message }) => `${step} ${ok ? 'ok' : 'failed'}: ${message}`);

const HOST = 'app.acme.test';
const RECORD = `app CNAME ${TARGET}`;

describe('domains.attach with local', () => {
  beforeEach(() => void vi.stubEnv('VIVARIUM_COMMAND', 'vivarium'));
  afterEach(() => void vi.unstubAllEnvs());

  it.each(['127.0.0.1', '::1'])('needs two commands from nothing to HTTPS, for a server on %s', async (host) => {
    const { port } = await startUpstream((_request, response) => response.end('hello'), host);
    const engine = await startDomainsEngine();
    const run = (...args: string[]) => runHere([...args, '--data-dir', engine.dataDir]);
    expect(await run('projects', 'create', 'App', '--target', String(port), '--plan', 'pro')).toMatchObject({
      code: 0,
    });
    const { code, stdout } = await run('domains', 'attach', 'app', 'app.fresh.test', '--local');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          [
            '^deploy +ok  The target answers\\.',
            'zone +ok  fresh\\.test, created',
            'record +ok  app CNAME cname\\.vivarium\\.localhost, added',
            'verified +ok  app\\.fresh\\.test points to Vivarium',
            'certificate  ok  valid until \\d{4}-\\d{2}-\\d{2}',
            '',
            `https://app\\.fresh\\.test:${engine.app.runtime.https.port}  Open it: vivarium open app\\.fresh\\.test --data-dir \\S+\n$`,
          ].join('\n'),
        ),
      ),
    ]);
    expect(await engine.curl('app.fresh.test', '/')).toBe('hello');
  });

  it('does only the missing steps', async ({ engine, call, projectId }) => {
    const attach = () => call('domains.attach', { projectId, hostname: HOST, local: true });
    await call('domains.attach', { projectId, hostname: HOST });
    const first = (await attach()) as AttachedLocally;
    expect(lines(first).slice(0, 3)).toEqual([
      'zone ok: acme.test',
      `record ok: ${RECORD}, added`,
      `verified ok: ${HOST} points to Vivarium`,
    ]);
    const second = (await attach()) as AttachedLocally;
    expect(lines(second).slice(0, 2)).toEqual(['zone ok: acme.test', `record ok: ${RECORD}`]);
    expect(second).toMatchObject({ state: 'verified', url: `https://${HOST}:${engine.app.runtime.https.port}` });
    const records = await call('records.list', { zone: 'acme.test' });
    expect(records.filter(({ name }) => name === 'app')).toHaveLength(1);
  });

  it('gives an apex an ALIAS', async ({ attach }) => {
    const attached = await attach('other.test', { local: true });
    expect(lines(attached as AttachedLocally)).toContain(`record ok: @ ALIAS ${TARGET}, added`);
    expect(attached).toMatchObject(ISSUED);
  });

  it('does not remove a conflicting record, but tells how to', async ({ attach, put }) => {
    const { id } = await put('app', 'A', '192.0.2.1');
    const attached = await attach(HOST, { local: true });
    expect(lines(attached as AttachedLocally)).toEqual([
      'zone ok: acme.test',
      `record failed: In the way of ${RECORD}: app A 192.0.2.1.`,
    ]);
    expect((attached as AttachedLocally).steps?.[1]?.fix).toBe(`Remove it: \`records.remove {"id":"${id}"}\``);
  });

  it('keeps the completed steps if the root may not sign, and exits 1 with the command that helps', async () => {
    const engine = await startDomainsEngine();
    const args = ['domains', 'attach', engine.projectId, 'shop.acme.dev', '--local', '--data-dir', engine.dataDir];
    const { code, stdout } = await runHere(args);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^verified +ok .*\ncertificate +failed .*exclude/m)]);
    expect(stdout).toMatch(/Extend the root: "vivarium ca extend acme\.dev --data-dir \S+"\. Trust/);
    expect(stdout).toMatch(
      /repeating the command continues there\. To remove it:\nvivarium domain remove shop\.acme\.dev --data-dir \S+\nvivarium zone remove acme\.dev --data-dir \S+\n$/,
    );
    expect(stdout).not.toContain('https://shop.acme.dev  ');
    expect(await engine.get('shop.acme.dev')).toMatchObject({ state: 'verified' });
    await engine.call('ca.extend', { suffix: 'acme.dev', confirm: true });
    expect((await runHere(args)).code).toBe(0);
  });

  it('refuses a Free project with the command that changes its plan, and changes nothing', async () => {
    const engine = await startEngine();
    const args = ['domains', 'attach', 'demo', HOST, '--local', '--data-dir', engine.dataDir];
    const { code, stderr } = await runHere(args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('vivarium project update demo --plan pro')]);
    expect(await engine.call('zones.list')).not.toContainEqual(expect.objectContaining({ name: 'acme.test' }));
  });

  demoTest('reports a target that does not answer', async ({ call }) => {
    await call('projects.create', { name: 'App', plan: 'pro', target: '1' });
    const attach = call('domains.attach', { projectId: 'app', hostname: HOST, local: true });
    await expect(attach).rejects.toThrow(/target does not answer\. .*localhost:1/);
  });
});
