import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { isAlive } from '../../../main/base/system/runtime-file.ts';
import { posixWord } from '../../../main/base/text/shell.ts';
import { runHere } from '../../support/cli-io.ts';
import { type Engine, startEngine, track } from '../../support/engine.ts';
import { emptyTest as test } from '../../support/engine-test.ts';
import { openSocket, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM, startProgram } from '../../support/program.ts';
import { finished, runCli, startCli } from '../../support/rpc/rpc-cli.ts';
import { startUpstream, until } from '../../support/upstream-server.ts';

/**
 * A dev server that echoes its input; `/move` makes it listen on another port, `/end` ends it with code 7, and
 * `/fetch/URL` requests it.
 */
const SERVER = `
const { createServer } = require('node:http');
const { env, pid } = process;
const given = { pid, port: env.PORT, url: env.VIVARIUM_URL, ca: env.NODE_EXTRA_CA_CERTS, path: env.PATH, proxy: env.HTTPS_PROXY };
const listen = (...at) => {
  const server = createServer(async ({ url, headers }, response) => {
    if (url === '/end') process.exit(7);
    if (url.startsWith('/fetch/')) {
      const text = await fetch(url.slice('/fetch/'.length)).then((answer) => answer.text(), ({ cause }) => cause.message);
      return response.end(JSON.stringify({ text }));
    }
    response.end(JSON.stringify({ ...given, host: headers.host }), () => {
      if (url !== '/move') return;
      server.close(() => listen(0));
      server.closeAllConnections();
    });
  });
  server.listen(...at);
};
`;
const ON_PORT = `${SERVER} listen(Number(env.PORT), '127.0.0.1');`;

interface Given {
  pid: number;
  port: string;
  url: string;
  ca?: string;
  path: string;
  proxy?: string;
  host: string;
}

/** `vivarium run` with a Node program as the command. */
function startRun(
  dataDir: string,
  words: readonly string[],
  program: string,
  cwd = temporaryFolder(),
  env: Record<string, string> = {},
) {
  const child = startCli(['run', ...words, '--data-dir', dataDir, '--', process.execPath, '-e', program], env, cwd);
  const ended = finished(child);
  let said = '';
  const lines = new Set<() => void>();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    for (const look of lines) look();
  });
  return {
    child,
    ended,
    end(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
    said: () => said,
    /** Resolves once standard error contains the text as often as given. */
    says: (text: string, times = 1) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (said.split(text).length <= times) return;
          lines.delete(look);
          resolve();
        };
        lines.add(look);
        look();
      }),
  };
}

const MAPPED = 'They lead to http://';

async function ask(engine: Engine, host: string, path = '/'): Promise<Given> {
  const { status, text, json } = await engine.api({ host, path, key: null });
  if (status !== 200) throw new Error(text);
  return json as Given;
}

const listRuns = (engine: Engine) => engine.call('runs.list');

/** Everything that a run could leave behind. */
async function everything(engine: Engine): Promise<unknown> {
  const names = ['projects.list', 'zones.list', 'domains.list', 'runs.list'];
  return Promise.all(names.map((name) => engine.call(name)));
}

describe('vivarium run', () => {
  test.skipIf(process.platform === 'win32')(
    'serves a folder in two commands: init, and its own dev script',
    async ({ engine }) => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'server.cjs'), ON_PORT);
      writeFileSync(join(folder, 'package.json'), '{ "name": "shop", "scripts": { "dev": "node server.cjs" } }');
      const bin = join(folder, 'node_modules', '.bin');
      mkdirSync(bin, { recursive: true });
      const words = [process.execPath, PROGRAM].map(posixWord).join(' ');
      writeFileSync(join(bin, 'vivarium'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
      expect(await runCli(['init', 'app.acme.test', '--yes'], { cwd: folder })).toMatchObject({ code: 0 });
      const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, VIVARIUM_DATA_DIR: engine.dataDir };
      const { dev } = (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { dev: string } })
        .scripts;
      const child = spawn(dev, { shell: true, cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      track(() => void child.kill());
      const ended = finished(child);
      await expect
        .poll(() => ask(engine, 'app.acme.test').catch(() => null))
        .toMatchObject({ port: expect.stringMatching(/^\d+$/) });
      await ask(engine, 'app.acme.test', '/end').catch(() => null);
      expect((await ended).code).toBe(7);
    },
  );

  test('serves a command with its environment, returns its exit code, and leaves nothing', async ({ engine }) => {
    await engine.call('projects.create', { name: 'Another' });
    const before = await everything(engine);
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
    const run = startRun(engine.dataDir, ['app.acme.test', '--wildcard'], ON_PORT, folder);
    await run.says(MAPPED);
    const given = await ask(engine, 'app.acme.test');
    const { https } = engine.app.runtime;
    expect(given).toMatchObject({ url: `https://app.acme.test:${https.port}`, host: `localhost:${given.port}` });
    expect(given.path.startsWith(join(folder, 'node_modules', '.bin'))).toBe(true);
    const [{ asked = '' } = {}] = await listRuns(engine);
    expect(asked).toMatch(/^app\.acme\.test --wildcard -- /);
    expect(await ask(engine, 'any.app.acme.test')).toEqual(given);
    expect(await ask(engine, 'app-acme-test.vivarium.localhost')).toEqual(given);
    const domains = await engine.call('domains.list');
    expect(domains).toMatchObject([{ certificate: { state: 'issued' } }, { certificate: { state: 'issued' } }]);
    const { stdout } = await runHere(['ps', '--data-dir', engine.dataDir]);
    expect(stdout).toContain(`http://localhost:${given.port}`);
    expect(stdout).toContain(folder);
    const keys = await runHere(['keys', 'list', '--data-dir', engine.dataDir], { cwd: folder });
    expect(keys).toMatchObject({ code: 0, stderr: expect.stringContaining('Project: app-acme-test') });
    await ask(engine, 'app.acme.test', '/end').catch(() => null);
    expect((await run.ended).code).toBe(7);
    expect(await everything(engine)).toEqual(before);
  });

  test('lets the command reach Vivarium’s hostnames without a port, and all else as before', async ({ engine }) => {
    const certificates = createTestCertificates(['company.test']);
    const company = join(temporaryFolder(), 'company.pem');
    writeFileSync(company, certificates.trusted);
    const asked: (string | undefined)[] = [];
    const former = await startUpstream((_request, response) => response.end('from the former proxy'));
    former.server.on('connect', ({ url }, socket) => {
      asked.push(url);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      former.server.emit('connection', socket);
    });
    const other = await startUpstream((_request, response) => response.end('from elsewhere'));
    const env = { HTTP_PROXY: former.url, NODE_EXTRA_CA_CERTS: company };
    const run = startRun(engine.dataDir, ['app.acme.test'], ON_PORT, temporaryFolder(), env);
    await run.says(MAPPED);
    const { pid, ca = '' } = await ask(engine, 'app.acme.test');
    expect(readFileSync(ca, 'utf8')).toContain(certificates.trusted.trim());
    const fetched = async (url: string) =>
      ((await engine.api({ host: 'app.acme.test', path: `/fetch/${url}`, key: null })).json as { text: string }).text;
    for (const url of ['https://app.acme.test/', 'http://app.acme.test/', 'https://app-acme-test.vivarium.localhost/'])
      expect(JSON.parse(await fetched(url))).toMatchObject({ pid });
    expect(await fetched('http://far.example.com/')).toBe('from the former proxy');
    expect(asked).toEqual(['far.example.com:80']);
    expect(await fetched(`http://localhost:${other.port}/secret`)).toBe('from elsewhere');
    expect(JSON.stringify(await engine.call('traffic.list'))).not.toMatch(/"(?:far\.example\.com|localhost)|"\/secret/);
    expect(run.said().split('passes a proxy of this run, unchanged and unrecorded')).toHaveLength(2);
    await run.end();
    expect(existsSync(ca)).toBe(false);
  });

  test('with --no-env leaves proxies and certificates alone', async ({ engine }) => {
    const run = startRun(engine.dataDir, ['app.acme.test', '--no-env'], ON_PORT);
    await run.says(MAPPED);
    const given = await ask(engine, 'app.acme.test');
    expect([given.proxy, given.ca]).toEqual([undefined, undefined]);
    expect(run.said()).not.toContain('proxy');
    await run.end();
  });

  test('with --keep-host sends the requested hostname, also one below, during the run', async ({ engine }) => {
    await engine.call('projects.create', { name: 'Shop', plan: 'pro' });
    const words = ['app.acme.test', '--project', 'shop', '--wildcard', '--keep-host'];
    const run = startRun(engine.dataDir, words, ON_PORT);
    await run.says(MAPPED);
    for (const host of ['app.acme.test', 'tenant.app.acme.test'])
      expect((await ask(engine, host)).host).toBe(`${host}:${engine.app.runtime.http.port}`);
    await run.end();
    expect(await engine.call('projects.get', { projectId: 'shop' })).toMatchObject({ target: { kind: 'api' } });
  });

  test('finds a port that a grandchild opens late on IPv6 only, and follows it to another port', async ({ engine }) => {
    const late = `${SERVER} setTimeout(() => listen(0, '::1'), 600);`;
    const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(late)}], { stdio: 'inherit' });`;
    const run = startRun(engine.dataDir, ['late'], parent);
    await run.says(MAPPED);
    const { pid } = await ask(engine, 'late.vivarium.localhost', '/move');
    await run.says('Now at http://localhost:');
    expect(await ask(engine, 'late.vivarium.localhost')).toMatchObject({ pid });
    expect((await run.end()).code).toBe(143);
    expect(isAlive(pid)).toBe(false);
  });

  test('names both ports of a command that opens two, and uses the one of --port', async ({ engine }) => {
    const before = await everything(engine);
    const two = `${SERVER} listen(0); listen(0);`;
    const { code, stderr } = await startRun(engine.dataDir, ['two.test'], two).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/ports \d+, \d+\. Choose one: .* run --port \d+ --data-dir \S+ -- /),
    ]);
    expect(await everything(engine)).toEqual(before);
    const spare = createServer().listen(0);
    await once(spare, 'listening');
    const { port } = spare.address() as AddressInfo;
    const chosen = ['two.test', '--port', String(port)];
    const taken = await startRun(engine.dataDir, chosen, '').ended;
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining(`Port ${port}, which the command is to`)]);
    spare.close();
    await once(spare, 'close');
    const run = startRun(engine.dataDir, chosen, `${SERVER} listen(0); listen(${port});`);
    await run.says(`${MAPPED}localhost:${port}.`);
    await run.end('SIGINT');
  });

  test('leaves no process, proxy, file or mapping when killed, and its name is free at once', async ({ engine }) => {
    const before = await everything(engine);
    const left = (TMPDIR: string) => readdirSync(TMPDIR).filter((name) => name.startsWith('vivarium'));
    const TMPDIR = temporaryFolder();
    const run = startRun(engine.dataDir, ['app.acme.test'], ON_PORT, temporaryFolder(), { TMPDIR });
    await run.says(MAPPED);
    const { pid, ca = '', proxy = '' } = await ask(engine, 'app.acme.test');
    const port = Number(new URL(proxy).port);
    expect((await sendRaw(port, 'CONNECT far.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(407);
    await run.end('SIGKILL');
    await expect(openSocket(port)).rejects.toThrow('ECONNREFUSED');
    const again = startRun(engine.dataDir, ['app.acme.test'], ON_PORT, temporaryFolder(), { TMPDIR });
    await again.says(MAPPED);
    expect(existsSync(ca)).toBe(false);
    await until(() => !isAlive(pid));
    await again.end();
    expect(await everything(engine)).toEqual(before);
    expect(left(TMPDIR)).toEqual([]);
  });

  test('kills a command that ignores Ctrl-C at the second one, and passes input to it', async ({ engine }) => {
    const stubborn = `process.on('SIGINT', () => process.stderr.write('not now')); process.stdin.on('data', (text) => process.stderr.write(process.pid + ' heard ' + text));`;
    const run = startRun(engine.dataDir, ['stubborn'], stubborn);
    run.child.stdin?.write('restart');
    await run.says('heard restart');
    run.child.kill('SIGINT');
    await run.says('not now');
    // One that follows at once is npm's copy of the first.
    const pid = Number(/(\d+) heard/.exec(run.said())?.[1]);
    const again = setInterval(() => isAlive(pid) && run.child.kill('SIGINT'), 100);
    track(() => clearInterval(again));
    expect((await run.ended).code).toBe(137);
  });

  test('resumes with an engine that was killed and restarted, which first undoes what was left behind', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const first = await startProgram(['--empty'], { dataDir });
    const run = startRun(dataDir, ['app.acme.test', '--as', 'vercel'], ON_PORT);
    await run.says(MAPPED);
    await first.end('SIGKILL');
    await run.says('Vivarium has stopped or is restoring a snapshot.');
    const engine = await startEngine({ empty: true, dataDir });
    await run.says('Vivarium is serving it again.');
    await run.says(MAPPED, 2);
    await run.says('The command no longer reaches the API of vercel:');
    expect((await ask(engine, 'app.acme.test')).url).toContain('https://app.acme.test:');
    await run.end();
    expect(await everything(engine)).toEqual([[], [], [], []]);
  });

  test('keeps what existed before, and what was added meanwhile', async ({ engine }) => {
    await engine.call('projects.create', { name: 'Shop', plan: 'pro', persona: 'netlify' });
    await engine.call('zones.create', { name: 'acme.test' });
    const run = startRun(engine.dataDir, ['app.acme.test', '--project', 'shop'], ON_PORT);
    const other = startRun(engine.dataDir, ['own'], ON_PORT);
    await Promise.all([run.says(MAPPED), other.says(MAPPED)]);
    await engine.call('keys.create', { projectId: 'own' });
    const [{ port }, { port: otherPort }] = [
      await ask(engine, 'shop.vivarium.localhost'),
      await ask(engine, 'own.vivarium.localhost'),
    ];
    expect(port).not.toBe(otherPort);
    const third = await startRun(engine.dataDir, ['app.acme.test'], '').ended;
    expect(third.stderr).toMatch(/Process \d+ is already running app\.acme\.test, in /);
    const fourth = await startRun(engine.dataDir, ['own'], '').ended;
    expect(fourth.stderr).toMatch(/Process \d+ is already running the project "own", in /);
    const gone = startRun(engine.dataDir, ['gone'], ON_PORT);
    await gone.says(MAPPED);
    const held = {
      code: 'conflict',
      message: expect.stringMatching(/holds .* until it ends\. Stop it there first\.$/),
    };
    for (const [procedure, input] of [
      ['projects.remove', { projectId: 'gone' }],
      ['projects.update', { projectId: 'gone', plan: 'business' }],
      ['projects.update', { projectId: 'shop', plan: 'free' }],
      ['projects.update', { projectId: 'shop', target: { kind: 'api' } }],
      ['domains.remove', { hostname: 'APP.acme.test.' }],
      ['domains.setRedirects', { projectId: 'shop', redirects: [{ from: 'app.acme.test', to: 'b.acme.test' }] }],
    ] as const) {
      await expect(engine.call(procedure, input), procedure).rejects.toMatchObject(held);
    }
    await engine.call('projects.update', { projectId: 'shop', plan: 'business', name: 'Our shop' });
    await Promise.all([run, other, gone].map(({ end }) => end()));
    expect(other.said()).toMatch(
      /The project own stays, .* leads to the same server\. Remove it: .* project remove own/,
    );
    expect([run.said(), gone.said()].join()).not.toContain('stays');
    expect(await listRuns(engine)).toEqual([]);
    expect(await engine.call('projects.list')).toMatchObject([
      { slug: 'own', target: { kind: 'upstream', url: `http://localhost:${otherPort}` } },
      { slug: 'shop', target: { kind: 'api' } },
    ]);
    expect(await engine.call('zones.list')).toMatchObject([{ name: 'acme.test', records: 0 }]);
  });

  test('keeps records and zones of a run, and what a vivarium.yaml would change or remove', async ({ engine }) => {
    const folder = temporaryFolder();
    const file = join(folder, 'vivarium.yaml');
    const shop = 'shop: { plan: pro, domains: { app.acme.test: {} } }';
    const zones = 'zones: { acme.test: "app CNAME cname.vivarium.localhost." }';
    const write = (project: string) => writeFileSync(file, `vivarium: 1\nprojects:\n  ${project}\n${zones}\n`);
    const world = (...words: string[]) => runCli([...words, '--data-dir', engine.dataDir], { cwd: folder });
    write(shop);
    expect(await world('up')).toMatchObject({ code: 0 });
    const run = startRun(engine.dataDir, ['app.acme.test', '--project', 'shop'], ON_PORT);
    const own = startRun(engine.dataDir, ['new.own.test'], ON_PORT);
    await Promise.all([run.says(MAPPED), own.says(MAPPED)]);
    const before = await everything(engine);
    const held = /holds this project until it ends\. Stop it there first\./;
    expect(await world('down')).toMatchObject({ code: 1, stderr: expect.stringMatching(held) });
    write(`new: {}\n  ${shop.replace('pro,', 'pro, target: "http://localhost:9",')}`);
    expect(await world('up')).toMatchObject({ code: 1, stderr: expect.stringMatching(held) });
    const [record] = await engine.call('records.list', { zone: 'own.test', name: 'new' });
    // The other one has found its record there.
    const runs = await engine.call('runs.list');
    expect(runs.map((each) => each.records)).toEqual(expect.arrayContaining([[], [record?.id]]));
    for (const [procedure, input, what] of [
      ['records.remove', { id: record?.id }, 'this record'],
      ['records.update', { id: record?.id, value: 'elsewhere.test' }, 'this record'],
      ['zones.remove', { name: 'OWN.test.' }, 'the zone "own.test"'],
      ['zones.remove', { name: 'acme.test' }, 'the zone "acme.test"'],
    ] as const) {
      const refusal = { code: 'conflict', message: expect.stringContaining(`holds ${what} until it ends.`) };
      await expect(engine.call(procedure, input), procedure).rejects.toMatchObject(refusal);
    }
    expect(await everything(engine)).toEqual(before);
    const more = { zone: 'own.test', name: 'other', type: 'A', value: '127.0.0.1' };
    const { id } = await engine.call('records.put', more);
    await engine.call('records.remove', { id });
    await Promise.all([run, own].map(({ end }) => end()));
    write(shop);
    expect(await world('down')).toMatchObject({ code: 0 });
    expect(await everything(engine)).toEqual([[], [], [], []]);
  });

  test('remembers a run that ended, also when it and Vivarium were killed', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const first = await startProgram(['--empty'], { dataDir });
    const run = startRun(dataDir, ['app.acme.test'], ON_PORT);
    const stopped = startRun(dataDir, ['own'], ON_PORT);
    await Promise.all([run.says(MAPPED), stopped.says(MAPPED)]);
    await stopped.end('SIGKILL');
    await first.end('SIGKILL');
    await run.end('SIGKILL');
    const engine = await startEngine({ empty: true, dataDir });
    const ended = await engine.call('runs.list', { ended: true });
    expect(ended.map(({ project, endedAt }) => [project, typeof endedAt])).toEqual(
      expect.arrayContaining([
        ['app-acme-test', 'string'],
        ['own', 'string'],
      ]),
    );
    expect(ended[0]?.asked).toMatch(/-- /);
    expect(await everything(engine)).toEqual([[], [], [], []]);
    const again = startRun(dataDir, ['own'], ON_PORT);
    await again.says(MAPPED);
    await engine.call('snapshots.save', { name: 'running' });
    await engine.call('snapshots.restore', { name: 'running' });
    await again.says('Now at ');
    await again.end();
    expect((await engine.call('runs.list', { ended: true })).map(({ project }) => project)).toEqual([
      'app-acme-test',
      'own',
    ]);
    expect(await everything(engine)).toEqual([[], [], [], []]);
  });

  test('reports problems before the command begins', async () => {
    const engine = await startEngine();
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'package.json'), '{"name":"@acme/site"}');
    const touch = ['--', process.execPath, '-e', `require('node:fs').writeFileSync('begun', '')`];
    const refusal = async (...words: string[]) => {
      const { code, stderr } = await runHere(['run', ...words, '--data-dir', engine.dataDir, ...touch], {
        cwd: folder,
      });
      expect(code).toBe(1);
      return stderr;
    };
    expect(await refusal('www.happypaws.test')).toContain('with --project happy-paws');
    expect(await refusal(`${'a'.repeat(300)}.test`)).toContain('has 300 characters');
    expect(await refusal('a'.repeat(300))).toContain('at most 100 characters');
    expect(await refusal('--wildcard')).toContain('needs a custom hostname');
    expect(await refusal('app.acme.test', '--project', 'demo')).toContain('the Free plan');
    expect(await refusal('--port', '0')).toContain('--port must be');
    const missing = await runHere(['run', 'npm', 'run', 'dev', '--data-dir', engine.dataDir]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/ run --data-dir \S+ -- npm run dev\n/)]);
    expect((await listRuns(engine)).length).toBe(0);
    const short = await runCli(['run', 'foo', '--data-dir', engine.dataDir, '--', process.execPath, '-e', '0']);
    expect([short.code, short.stderr]).toEqual([0, expect.stringContaining('has ended before it opened a port')]);
    const absent = ['run', '--data-dir', engine.dataDir, '--', 'no-such-program'];
    expect((await runCli(absent, { cwd: folder })).code).toBe(127);
    expect((await engine.call('projects.list')).map(({ slug }) => slug)).toEqual(['demo', 'happy-paws']);
  });

  test('starts Vivarium in the background if none runs', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    track(async () => void (await runCli(['stop', '--data-dir', dataDir])));
    const run = startRun(dataDir, [], ON_PORT);
    await run.says('Starting Vivarium in the background. It only writes to ');
    await run.says(MAPPED);
    await run.end();
    expect((await runHere(['status', '--data-dir', dataDir])).code).toBe(0);
  });
});
