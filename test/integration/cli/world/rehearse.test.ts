import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive } from '../../../../main/base/system/runtime-file.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { createTestCertificates } from '../../../support/proxy/proxy-certificates.ts';
import { writeProgram } from '../../../support/documents/pasted-documents.ts';
import { readUntil } from '../../../support/proxy/proxy-raw.ts';
import { finished, runCli, startCli } from '../../../support/rpc/rpc-cli.ts';

const SHOP = {
  vivarium: 1,
  seed: 7,
  projects: { acme: { plan: 'free', pets: 30, keys: ['ci'] }, zoo: { plan: 'pro', domains: { 'shop.acme.test': {} } } },
  zones: { 'acme.test': 'shop CNAME cname.vivarium.localhost.\n' },
};

/** Writes a file in a new folder; returns both paths. */
function writeWorld(world: object): { folder: string; file: string } {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'shop.json'), JSON.stringify(world));
  return { folder, file: 'shop.json' };
}

const rehearse = (folder: string, words: readonly string[], env: Record<string, string> = {}) => {
  const child = startCli(['rehearse', ...words], { TMPDIR: folder, ...env }, folder);
  return { child, ended: finished(child) };
};

const node = (program: string): string[] => ['--', process.execPath, '-e', program];

describe('vivarium rehearse', () => {
  test('gives the same report in repeated and concurrent runs, and leaves nothing behind', async () => {
    const { folder, file } = writeWorld({
      ...SHOP,
      steps: [
        { dns: 'shop.acme.test CNAME', expect: { answers: ['cname.vivarium.localhost.'] } },
        {
          request: 'GET http://acme.vivarium.localhost/v1/pets?limit=1',
          key: 'ci',
          times: 61,
          expect: { status: 429, headers: { 'Retry-After': '60' } },
        },
        { clock: '+1m' },
        { request: 'GET http://acme.vivarium.localhost/v1/pets/31', key: 'ci', expect: { status: 404, text: '31' } },
        { clock: '+61d' },
        { request: 'HEAD https://shop.acme.test/v1/pets', expect: { status: 401 } },
      ],
      expect: {
        domains: { 'shop.acme.test': { state: 'verified', certificate: 'issued', https: true } },
        traffic: { 'status:5xx': 0, 'status:429': 1 },
      },
    });
    const words = [file, '--junit', 'report.xml', '--markdown', 'report.md'];
    const both = [rehearse(folder, words), rehearse(folder, words)];
    const [one, other] = await Promise.all(both.map(({ ended }) => ended));
    expect(one?.stdout).toBe(`shop.json

  ✓ dns shop.acme.test CNAME
  ✓ request GET http://acme.vivarium.localhost/v1/pets?limit=1 (61 times, key ci)
  ✓ clock +1m
  ✓ request GET http://acme.vivarium.localhost/v1/pets/31 (key ci)
  ✓ clock +61d
  ✓ request HEAD https://shop.acme.test/v1/pets

  ✓ shop.acme.test: state verified, certificate issued, https true
  ✓ traffic status:5xx: 0
  ✓ traffic status:429: 1

9 passed, 0 failed
`);
    expect(one?.code).toBe(0);
    expect(other?.stdout).toBe(one?.stdout);
    expect(readFileSync(join(folder, 'report.xml'), 'utf8')).toContain('tests="9" failures="0"');
    expect(readFileSync(join(folder, 'report.md'), 'utf8')).toContain('9 passed, 0 failed');
    expect(readdirSync(folder).toSorted()).toEqual(['report.md', 'report.xml', 'shop.json']);
  });

  test('passes the world to a command, and exits with 1 when the command fails', async () => {
    const { folder, file } = writeWorld(SHOP);
    const program = `
      const { VIVARIUM_URL, VIVARIUM_KEY, VIVARIUM_KEYS, VIVARIUM_DATA_DIR, NODE_EXTRA_CA_CERTS } = process.env;
      const { url } = JSON.parse(require('node:fs').readFileSync(VIVARIUM_DATA_DIR + '/runtime.json', 'utf8')).control;
      console.log(JSON.stringify([
        new URL(VIVARIUM_URL).hostname, JSON.parse(VIVARIUM_KEYS)['acme/ci'] === VIVARIUM_KEY, url.startsWith('http://127.'),
        require('node:fs').existsSync(NODE_EXTRA_CA_CERTS),
      ]));
      process.exitCode = 3;`;
    const { stdout, stderr, code } = await rehearse(folder, [file, ...node(program)]).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('["acme.vivarium.localhost",true,true,true]');
    expect(stdout).toMatch(/^Repeat it with: vivarium rehearse shop\.json -- \S+ -e /);
    expect(stdout).toContain('the exit code is 3, not 0');
    expect(readdirSync(folder)).toEqual(['shop.json']);
  });

  test('lets commands reach the hostnames without a port, and trust its root besides one that was set before', async () => {
    const { folder, file } = writeWorld(SHOP);
    const certificates = createTestCertificates(['other.test']);
    // The root of another Vivarium, as the GitHub action sets it.
    writeFileSync(join(folder, 'other.pem'), certificates.trusted);
    const program = `
      const get = async (url) => (await fetch(url, { headers: { Authorization: 'Bearer ' + process.env.VIVARIUM_KEY } })).status;
      const { port } = new URL(process.env.VIVARIUM_URL);
      (async () => console.log(port !== '', await get(process.env.VIVARIUM_URL + '/pets'),
        await get('https://acme.vivarium.localhost/v1/pets'), await get('http://shop.acme.test/v1/pets'),
        require('node:fs').readFileSync(process.env.NODE_EXTRA_CA_CERTS, 'latin1').split('BEGIN CERTIFICATE').length))();`;
    const env = { NODE_EXTRA_CA_CERTS: join(folder, 'other.pem') };
    const { stderr, code } = await rehearse(folder, [file, ...node(program)], env).ended;
    expect([code, stderr]).toEqual([0, 'true 200 200 401 3\n']);
    expect(readdirSync(folder).toSorted()).toEqual(['other.pem', 'shop.json']);
  });

  test.skipIf(process.platform === 'win32')('says that the Node of a command is too old to reach them', async () => {
    const { folder, file } = writeWorld(SHOP);
    writeProgram(folder, 'node', 'echo v20.20.2');
    const PATH = `${folder}:${process.env['PATH'] ?? ''}`;
    const { stderr } = await rehearse(folder, [file, '--', 'sh', '-c', ': npm test'], { PATH }).ended;
    expect(stderr).toMatch(/^vivarium: The command’s Node v20\.20\.2 does not use a proxy .* 22\.21 and 24\.5 on\.\n$/);
  });

  test.skipIf(process.platform === 'win32')('removes the folder of a rehearsal that was killed', async () => {
    const { folder, file } = writeWorld(SHOP);
    const { child, ended } = rehearse(folder, [file, ...node("console.log('begun'); setInterval(() => {}, 1_000)")]);
    await once(child.stderr, 'data');
    child.kill('SIGKILL');
    await ended;
    expect(readdirSync(folder)).not.toEqual(['shop.json']);
    await rehearse(folder, [file]).ended;
    expect(readdirSync(folder)).toEqual(['shop.json']);
  });

  test('prints the report as JSON with --json, and takes --data-dir as every command does', async () => {
    const { folder, file } = writeWorld({ vivarium: 1, expect: { traffic: { 'status:5xx': 1, 'status:429': 0 } } });
    const { stdout, code } = await rehearse(folder, [file, '--json', '--data-dir', folder]).ended;
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      {
        file,
        command: `vivarium rehearse ${file}`,
        passed: 1,
        failed: 1,
        skipped: 0,
        steps: [],
        expectations: [
          { title: 'traffic status:5xx: 1', outcome: 'failed', reasons: [expect.any(String)] },
          { title: 'traffic status:429: 0', outcome: 'passed', reasons: [] },
        ],
      },
    ]);
  });

  test.each<[string, object, string]>([
    ['an invalid step', { ...SHOP, steps: [{ wait: 1 }] }, 'steps[0]'],
    ['an unknown plan', { ...SHOP, projects: { acme: { plan: 'gold' } } }, 'projects.acme.plan'],
  ])('exits with 2 if the file has %s', async (_what, world, place) => {
    const { folder, file } = writeWorld(world);
    const { stdout, stderr, code } = await rehearse(folder, [file]).ended;
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(place);
    expect(readdirSync(folder)).toEqual(['shop.json']);
  });

  test('draws the same ids and keys from the same seed', async () => {
    const { folder, file } = writeWorld(SHOP);
    const words = [file, ...node('console.log(process.env.VIVARIUM_KEYS)')];
    const [one, other] = await Promise.all([rehearse(folder, words).ended, rehearse(folder, words).ended]);
    expect(one.stderr).toMatch(/"acme\/ci":"viv_\w{32}"/);
    expect(other.stderr).toBe(one.stderr);
  });

  test('ends its command when it is interrupted', async () => {
    const { folder, file } = writeWorld(SHOP);
    const { child, ended } = rehearse(folder, [
      file,
      ...node('console.log("pid", process.pid); setInterval(() => {}, 1e6)'),
    ]);
    const said = await readUntil(child.stderr, /pid \d+\n/);
    child.kill('SIGINT');
    const { code } = await ended;
    expect(code).toBe(2);
    expect(isAlive(Number(/pid (\d+)/.exec(said)?.[1]))).toBe(false);
    expect(readdirSync(folder)).toEqual(['shop.json']);
  });

  test('leaves nothing behind when it is interrupted while its engine starts', async () => {
    const { folder, file } = writeWorld(SHOP);
    const made = once(watch(folder), 'change');
    const { child, ended } = rehearse(folder, [file]);
    await made;
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('The rehearsal was interrupted.') });
    expect(readdirSync(folder)).toEqual(['shop.json']);
  });
});

test('vivarium rehearse needs a file', async () => {
  const { code, stderr } = await runCli(['rehearse']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Name a file')]);
});
