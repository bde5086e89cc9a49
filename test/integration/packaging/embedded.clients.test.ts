import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeFile } from '../../../main/base/config.ts';
import { track } from '../../support/engine.ts';
import { installTarball, linkPackage, PACKING_MS_MAX } from '../../support/packaging/tarball.ts';
import { execute as run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const GUIDE = readFileSync(join(ROOT, 'docs', 'use-it-in-tests.md'), 'utf8');

const blocksOf = (language: string): string[] =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block);

/** A project with only the package and what a test links. */
let project: string;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'vivarium-project-'));
  await installTarball(project);
  for (const name of ['vitest', 'typescript', '@types']) linkPackage(project, name);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
}, PACKING_MS_MAX);

afterAll(() => rmSync(project, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  said: string;
  /** What it has left in its folder for temporary files. */
  left: string[];
}

/** Runs a program in the project, which must end by itself. */
async function runNode(words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const temporary = temporaryFolder();
  const child = spawn(process.execPath, words, {
    cwd: project,
    env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: '', NO_COLOR: '1', FORCE_COLOR: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  track(() => void child.kill('SIGKILL'));
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, said, left: readdirSync(temporary).filter((name) => name.startsWith('vivarium')) };
}

/** The same for one that succeeds and leaves nothing; resolves with what it said. */
async function runWell(words: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, said, left } = await runNode(words, env);
  expect({ code, left }, said).toEqual({ code: 0, left: [] });
  return said;
}

/** A module that starts a Vivarium. */
const program = (text: string): string[] => [
  '--input-type=module',
  '--eval',
  `import { startVivarium } from 'vivarium';\n${text}`,
];

describe('a program that imports the package', () => {
  it('starts six Vivariums with a separate world each, and leaves no handle, file or process', async () => {
    const said = await runWell(
      program(`
        const environment = JSON.stringify(process.env);
        const starts = Array.from({ length: 6 }, (_, index) => startVivarium({ clock: '203' + index + '-01-01' }));
        const all = await Promise.all(starts);
        const seen = await Promise.all(all.map(async (vivarium, index) => {
          const tenant = await vivarium.tenant({ pets: index + 1 });
          const pets = await (await tenant.fetch('/pets')).json();
          const { now } = await vivarium.clock.get();
          return [tenant.slug, pets.length, now.slice(0, 4), vivarium.ports.https];
        }));
        const wrong = await startVivarium({ clock: 'tomorrow' }).catch(({ code, message }) => [code, message]);
        await Promise.all(all.flatMap((vivarium) => [vivarium.close(), vivarium.close()]));
        console.log(JSON.stringify({
          ports: new Set(seen.map((row) => row.pop())).size,
          seen,
          wrong,
          handles: process.getActiveResourcesInfo().filter((name) => /TCP|UDP|Timeout/.test(name)),
          untouched: environment === JSON.stringify(process.env),
        }));
      `),
    );
    expect(JSON.parse(said)).toEqual({
      ports: 6,
      seen: Array.from({ length: 6 }, (_, index) => ['tenant-1', index + 1, `203${index}`]),
      wrong: ['invalid_request', expect.stringContaining('must be a moment in ISO 8601')],
      handles: [],
      untouched: true,
    });
  });

  it('ends by itself, four at once, when it fails before it closes its Vivarium, and leaves no file', async () => {
    const failing = program(`
      const vivarium = await startVivarium();
      const tenant = await vivarium.tenant();
      await (await tenant.fetch('/pets')).text();
      throw new Error('The test failed.');
    `);
    for (const { code, said, left } of await Promise.all(Array.from({ length: 4 }, () => runNode(failing)))) {
      expect({ code, left }, said).toEqual({ code: 1, left: [] });
      expect(said).toContain('The test failed.');
    }
  });

  it('finds the files of a killed one, and removes them', async () => {
    const TMPDIR = temporaryFolder();
    await runNode(program("await startVivarium(); process.kill(process.pid, 'SIGKILL');"), { TMPDIR });
    expect(readdirSync(TMPDIR)).toEqual([expect.stringMatching(/^vivarium-embedded-/)]);
    await runNode(program('await (await startVivarium()).close();'), { TMPDIR });
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it('returns to a snapshot, including its clock', async () => {
    const said = await runWell(
      program(`
        const vivarium = await startVivarium({ clock: '2030-01-01' });
        const tenant = await vivarium.tenant({ pets: 3 });
        const world = async () => [
          (await vivarium.projects.list()).length,
          (await (await tenant.fetch('/pets')).json()).length,
          (await vivarium.clock.get()).now.slice(0, 10),
        ];
        await vivarium.snapshot();
        await vivarium.snapshot('other');
        await vivarium.pets.seed({ projectId: tenant.id, environment: 'production', count: 2 });
        await vivarium.tenant();
        await vivarium.clock.advance({ by: '2d' });
        const changed = await world();
        await vivarium.restore();
        console.log(JSON.stringify([changed, await world()]));
        await vivarium.close();
      `),
    );
    expect(JSON.parse(said)).toEqual([
      [2, 5, '2030-01-03'],
      [1, 3, '2030-01-01'],
    ]);
  });

  it('reports why its Vivariums failed, and starts others', async () => {
    const thread = join(project, 'node_modules', 'vivarium', 'out', 'main', 'thread.js');
    const flag = join(temporaryFolder(), 'fail');
    const failing = `if (process.env.FAILING) setInterval(() => {
      if (process.getBuiltinModule('node:fs').existsSync(process.env.FAILING)) throw new Error('Out of luck');
    }, 20);`;
    writeFileSync(thread, `${readFileSync(thread, 'utf8')}\n${failing}\n`);
    const said = await runWell(
      program(`
        const vivarium = await startVivarium();
        process.getBuiltinModule('node:fs').writeFileSync(process.env.FAILING, '');
        let failure;
        while (failure === undefined) failure = await vivarium.clock.get().then(() => undefined, (error) => error);
        console.log(failure.code, failure.message);
        await vivarium.close();
        delete process.env.FAILING;
        const other = await startVivarium();
        console.log((await other.clock.get()).frozen);
      `),
      { FAILING: flag },
    );
    expect(said).toBe('internal_error Vivarium failed: Error: Out of luck\nfalse\n');
  });

  it('reaches hostnames in the zones, verified by the Vivarium’s root, and other hostnames as usual', async () => {
    const { code, said } = await runNode(
      program(`
        import { createServer } from 'node:http';
        const vivarium = await startVivarium();
        const tenant = await vivarium.tenant({ plan: 'pro' });
        const answer = async (url, init) => {
          try {
            return (await vivarium.fetch(url, init)).status;
          } catch ({ cause }) {
            return cause.code;
          }
        };
        const before = await answer('https://shop.acme.test/v1/pets');
        await vivarium.domains.attach({ projectId: tenant.id, hostname: 'shop.acme.test', local: true });
        const form = new FormData();
        form.set('photo', new Blob(['x']));
        const wrong = vivarium.domains.attach({ projectId: tenant.id, hostname: 'a b' });
        const refused = await wrong.catch(({ code, issues }) => [code, issues[0].path]);
        const server = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
        await new Promise((resolve) => server.once('listening', resolve));
        globalThis.fetch = vivarium.fetch;
        console.log(JSON.stringify([
          before,
          await answer('https://shop.acme.test/v1/pets'),
          await answer(vivarium.url('shop.acme.test') + '/v1/pets'),
          await answer('https://shop.acme.test/v1/pets', { method: 'POST', body: form }),
          await answer('https://www.acme.test/'),
          await answer('https://shop.vivarium.invalid/'),
          await answer('http://localhost:' + server.address().port),
          vivarium.ca.pem.split('\\n')[0],
          (await fetch(tenant.baseUrl + '/openapi.json')) instanceof Response,
          refused,
        ]));
        server.close();
        for await (const { type } of vivarium.events.watch()) {
          console.log(type);
          break;
        }
        await vivarium.close();
        await vivarium.clock.get().catch(({ code, message }) => console.log(code, message));
      `),
    );
    const [answers = '', ...lines] = said.trim().split('\n');
    expect(code, said).toBe(0);
    expect(JSON.parse(answers)).toEqual([
      expect.stringMatching(/^E/),
      401,
      401,
      401,
      'ENOTFOUND',
      'ENOTFOUND',
      204,
      '-----BEGIN CERTIFICATE-----',
      true,
      ['hostname_invalid', expect.any(String)],
    ]);
    expect(lines).toEqual(['ready', 'unavailable This Vivarium was stopped.']);
  });
});

it('its variables let other processes reach the hostnames without a port, also while the test blocks, until it is closed', async () => {
  const { code, said, left } = await runNode(
    program(`
        import { execFileSync } from 'node:child_process';
        import { connect } from 'node:net';
        const vivarium = await startVivarium();
        const tenant = await vivarium.tenant({ plan: 'pro' });
        await vivarium.domains.attach({ projectId: tenant.id, hostname: 'shop.acme.test', local: true });
        const text = "fetch('https://shop.acme.test/v1/pets').then(({ status }) => console.log(status))";
        const env = { ...process.env, ...vivarium.env };
        console.log(String(execFileSync(process.execPath, ['--eval', text], { env })).trim());
        const { port } = new URL(vivarium.env.HTTPS_PROXY);
        await vivarium.close();
        connect(port, '127.0.0.1').once('error', ({ code }) => console.log(code));
      `),
  );
  expect({ code, said, left }).toEqual({ code: 0, said: '401\nECONNREFUSED\n', left: [] });
});

describe('the fixtures', () => {
  it('of Vitest give the tests of a file one Vivarium, and each test a tenant', async () => {
    writeFileSync(
      join(project, 'fixtures.test.js'),
      `
      import { expect } from 'vitest';
      import { test } from 'vivarium/vitest';
      const ports = new Set();
      test.for([1, 2])('test %i', async (number, { tenant, vivarium }) => {
        ports.add(vivarium.ports.https);
        expect([(await tenant.fetch('/pets')).status, tenant.slug]).toEqual([200, 'tenant-' + number]);
        expect((await vivarium.projects.list()).length).toBe(1);
        expect(ports.size).toBe(1);
        expect(vivarium.env.NODE_USE_ENV_PROXY).toBe('1');
      });`,
    );
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    await runWell([
      vitest,
      ...['run', '--root', project, '--test-timeout', '120000', '--hook-timeout', '120000', 'fixtures'],
    ]);
  });

  it('of Playwright are created in order, and connect its pages through the proxy', async () => {
    const stand = join(project, 'node_modules', '@playwright', 'test');
    mkdirSync(stand, { recursive: true });
    writeFileSync(join(stand, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    // Playwright too rejects a fixture whose first parameter is not a destructuring pattern.
    const isPattern = '[].concat(fixture)[0] === true || /^async ?\\(\\{/.test([].concat(fixture)[0])';
    writeFileSync(
      join(stand, 'index.js'),
      `export const test = {
        extend(fixtures) {
          for (const fixture of Object.values(fixtures)) if (!(${isPattern})) throw new Error('It is no pattern.');
          return fixtures;
        },
      };`,
    );
    const said = await runWell([
      '--input-type=module',
      '--eval',
      `
      import { test } from 'vivarium/playwright';
      const [makeVivarium, { scope }] = test.vivarium;
      await makeVivarium({}, (vivarium) =>
        test.tenant({ vivarium }, (tenant) =>
          test.proxy({ vivarium }, async ({ server, bypass }) => {
            const { status } = await tenant.fetch('/pets');
            const hasEnv = 'HTTPS_PROXY' in vivarium.env;
            console.log(JSON.stringify([scope, server === vivarium.proxyUrl, bypass, status, test.ignoreHTTPSErrors, hasEnv]));
          }),
        ),
      );`,
    ]);
    expect(JSON.parse(said)).toEqual(['worker', true, 'localhost,127.0.0.1,[::1]', 200, true, true]);
  });

  it('of Jest are an environment that closes after a file what its tests have started', async () => {
    const stand = join(project, 'node_modules', 'jest-environment-node');
    mkdirSync(stand);
    const text = 'exports.TestEnvironment = class { global = {}; async setup() {} async teardown() {} };';
    writeFileSync(join(stand, 'index.js'), text);
    const said = await runWell([
      '--input-type=module',
      '--eval',
      `
      import Environment from 'vivarium/jest';
      const environment = new Environment();
      await environment.setup();
      const vivarium = await environment.global.startVivarium({ clock: '2030-01-01' });
      console.log((await vivarium.clock.get()).now, 'HTTPS_PROXY' in vivarium.env);
      await environment.teardown();
      await vivarium.clock.get().catch(({ code }) => console.log(code));`,
    ]);
    expect(said).toBe('2030-01-01T00:00:00.000Z true\nunavailable\n');
  });
});

describe('its declarations', () => {
  const USE = `
    import { startVivarium, type Tenant, type Vivarium } from 'vivarium';
    import { test } from 'vivarium/vitest';
    import environment from 'vivarium/jest';

    const vivarium: Vivarium = await startVivarium({ demo: true });
    const tenant: Tenant = await vivarium.tenant({ plan: 'pro', pets: 3 });
    const now: string = (await vivarium.clock.advance({ by: '1m' })).now;
    const names: string[] = (await vivarium.domains.list()).map(({ hostname }) => hostname);
    const status: number = (await tenant.fetch(\`/pets/\${now}/\${names.length}\`, { method: 'POST' })).status;
    for await (const event of vivarium.events.watch()) if (event.type === 'clock.changed' && status > 0) break;
    // @ts-expect-error It needs a project.
    await vivarium.keys.create();
    // @ts-expect-error There is no such plan.
    await vivarium.projects.create({ name: 'Shop', plan: 'huge' });
    test('contain both', async (context) => context.tenant.fetch(context.vivarium.url('localhost')));
    await using other = await startVivarium();
    void [other.ca.file, vivarium.ca.pem, { ...process.env, ...other.env }, environment, globalThis.startVivarium];
  `;

  it.each(['nodenext', 'bundler'])('are found under the module resolution %s', async (moduleResolution) => {
    expect(await compile(USE, { moduleResolution })).toMatchObject({ code: 0, said: '' });
  });

  it('contain only types that the contract has', async () => {
    const text = `
      import type { Vivarium } from 'vivarium';
      import type { Client } from ${JSON.stringify(join(ROOT, 'main', 'embed', 'client.ts'))};

      declare const own: Omit<Client, 'ca' | 'manners' | 'world'>;
      const published: Pick<Vivarium, Exclude<keyof Client, 'ca' | 'manners' | 'world'>> = own;
      void published;
    `;
    // The contract uses types that only this repository has.
    const options = { moduleResolution: 'nodenext', allowImportingTsExtensions: true, skipLibCheck: true };
    expect(await compile(text, options)).toMatchObject({ code: 0, said: '' });
  });

  async function compile(text: string, options: { moduleResolution: string; [option: string]: unknown }) {
    const folder = mkdtempSync(join(project, 'types-'));
    writeFileSync(join(folder, 'use.ts'), text);
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      module: options.moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
      types: ['node'],
      strict: true,
      noEmit: true,
      ...options,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }));
    return runNode([join(ROOT, 'node_modules', '@typescript', 'native', 'bin', 'tsc'), '-p', folder]);
  }
});

it('the guide: two commands serve an app at its hostname, and its test skips a 429’s wait by moving the clock', async () => {
  const [, commands = '', testing = ''] = blocksOf('text');
  const [install = '', serve = ''] = commands.trim().split('\n');
  const [, limits = ''] = blocksOf('js');
  const home = temporaryFolder();
  const app = join(home, 'app');
  const programs = join(home, 'bin');
  for (const folder of [app, programs]) mkdirSync(folder);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', scripts: { dev: 'node server.js' } }));
  writeFileSync(
    join(app, 'server.js'),
    "require('node:http').createServer((request, response) => response.end('My app')).listen(process.env.PORT);",
  );
  // npm, except for the registry.
  writeFileSync(
    join(programs, 'npm'),
    `#!/bin/sh
if [ "$1" != install ]; then PATH=\${PATH#*:} exec npm "$@"; fi
mkdir -p node_modules/.bin
ln -s '${join(project, 'node_modules', 'vivarium')}' node_modules/vivarium
ln -s ../vivarium/main/cli/bin.mjs node_modules/.bin/vivarium
`,
    { mode: 0o755 },
  );
  const variables = ['HTTP', 'HTTPS', 'DNS', 'CONTROL'].map((name) => [`VIVARIUM_${name}_PORT`, '0']);
  const dataDir = join(home, 'data');
  const env = {
    ...process.env,
    ...(Object.fromEntries(variables) as Record<string, string>),
    HOME: home,
    NODE_OPTIONS: '',
    VIVARIUM_DATA_DIR: dataDir,
    PATH: [programs, process.env.PATH].join(delimiter),
  };
  const inApp = { cwd: app, env };
  track(async () => void (await run('npx', ['vivarium', 'stop'], inApp).catch(() => undefined)));

  await run('sh', ['-c', install], inApp);
  const serving = spawn('sh', ['-c', `exec ${serve}`], { ...inApp, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  track(() => {
    const isRunning = serving.exitCode === null && serving.signalCode === null;
    if (isRunning && serving.pid !== undefined) process.kill(-serving.pid, 'SIGKILL');
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    for (const output of [serving.stdout, serving.stderr]) {
      output.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('They lead to ')) resolve();
      });
    }
    serving.once('exit', () => reject(new Error(said)));
  });
  const { https, caFile } = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  expect(await get('app.acme.test', https.port, readFileSync(caFile, 'utf8'))).toBe('My app');

  writeFileSync(join(app, 'limits.test.mjs'), limits);
  const { stdout } = await run('sh', ['-c', testing.trim()], inApp);
  expect(stdout).toContain('the client waits out a 429 at a custom domain');
  expect(stdout).toMatch(/^. pass 1$/m);

  const ended = once(serving, 'exit');
  // Ctrl-C in a terminal.
  process.kill(-(serving.pid ?? 0), 'SIGINT');
  await ended;
});

/** The body of `https://hostname/`, verified with the root `ca`. */
async function get(hostname: string, port: number, ca: string): Promise<string> {
  const place = { host: '127.0.0.1', port, servername: hostname, ca, agent: false };
  const asked = request({ ...place, headers: { host: `${hostname}:${port}` } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return text(response);
}
