import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, vi } from 'vitest';
import { VERSION } from '../../../main/base/config.ts';
import { widthOf } from '../../../main/cli/text/text.ts';
import { runHere } from '../../support/cli-io.ts';
import { makeEntry } from '../../support/page/page-traffic.ts';
import { DEFAULT_SETTINGS } from '../../../main/contract/default-settings.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { PROGRAM } from '../../support/program.ts';
import { readUntil } from '../../support/proxy/proxy-raw.ts';
import { finished, runCli, startFakeEngine, fakeEngineTest as it } from '../../support/rpc/rpc-cli.ts';
import { SAMPLE_PET, SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';
import { countingStream } from '../../support/rpc/rpc-streams.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// These commands run in this process, ten times as fast; `call.test.ts` runs them as built.
beforeEach(() => void vi.stubEnv('VIVARIUM_COMMAND', 'vivarium'));
afterEach(() => void vi.unstubAllEnvs());

describe('vivarium <namespace> <procedure>', () => {
  it('shows a table, without colours in a pipe', async ({ fake, here }) => {
    fake.stub('pets', 'list', () => ({ items: [SAMPLE_PET, { ...SAMPLE_PET, id: '10', name: 'Bo' }], total: 2 }));
    const { code, stdout, stderr } = await here(['pets', 'list', 'prj_1', '--limit', '5']);
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      'id  name  categoryId  status\n7   Ada   3           available\n10  Bo    3           available\n\ntotal  2\n',
    ]);
    expect(fake.calls).toEqual([
      {
        procedure: 'pets.list',
        input: { projectId: 'prj_1', environment: 'production', sort: 'id', descending: false, before: 0, limit: 5 },
      },
    ]);
  });

  it('shows JSON with --json, before the command or after it', async ({ fake, here }) => {
    fake.stub('projects', 'list', () => [SAMPLE_PROJECT]);
    for (const words of ['projects list --json', '--json projects list']) {
      const { stdout } = await here(words.split(' '));
      expect(JSON.parse(stdout)).toEqual([SAMPLE_PROJECT]);
    }
  });

  it('prints a file unchanged, and writes it to --output', async ({ fake, here }) => {
    const octets = Buffer.from([0x30, 0x82, 0x00, 0xff, 0x0a]);
    fake.stub('ca', 'export', () => ({ format: 'der', fileName: 'root.der', base64: octets.toString('base64') }));
    fake.stub('zones', 'export', () => ({ text: '$ORIGIN acme.test.\n' }));
    const { stdout } = await here(['zones', 'export', 'acme.test']);
    expect(stdout).toBe('$ORIGIN acme.test.\n');
    const file = join(temporaryFolder(), 'root.der');
    const written = await here(['ca', 'export', '--format', 'der', '--output', file]);
    expect(written).toEqual({ code: 0, stdout: '', stderr: `Written: ${file} (1 KiB).\n` });
    expect(readFileSync(file)).toEqual(octets);
    const wrong = await here(['ca', 'export', '--output', join(file, 'x')]);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('cannot be written (a part of its path is a file)'),
    ]);
  });

  it('shows only the changed settings, and all of them as JSON', async ({ fake, dataDir }) => {
    fake.stub('settings', 'update', () => ({ ...DEFAULT_SETTINGS, propagation: 'PT1H' }));
    const args = ['settings', 'update', '--propagation', '1h', '--data-dir', dataDir];
    expect((await runHere(args)).stdout).toBe('propagation  PT1H\n');
    expect(JSON.parse((await runHere([...args, '--json'])).stdout)).toMatchObject({
      banAfter: DEFAULT_SETTINGS.banAfter,
    });
  });

  it('uses the project named like the folder or its package, and reports it', async ({ fake, here }) => {
    const [demo, shop] = [
      { ...SAMPLE_PROJECT, id: 'prj_1', slug: 'demo' },
      { ...SAMPLE_PROJECT, id: 'prj_2', slug: 'my-shop' },
    ];
    fake.stub('projects', 'list', () => [demo, shop]);
    fake.stub('keys', 'list', () => []);
    fake.stub('runs', 'list', () => []);
    const folder = temporaryFolder();
    const list = () => here(['keys', 'list'], { cwd: folder });
    expect(await list()).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('there are demo, my-shop.') });
    writeFileSync(join(folder, 'package.json'), '{"name":"@acme/My_Shop"}');
    expect(await list()).toMatchObject({ code: 0, stderr: 'Project: my-shop\n' });
    fake.stub('projects', 'list', () => [demo]);
    expect(await list()).toMatchObject({ code: 0, stderr: '' });
    const asked = fake.calls.filter(({ procedure }) => procedure === 'keys.list').map(({ input }) => input);
    expect(asked).toEqual([{ projectId: 'my-shop' }, { projectId: 'demo' }]);
  });

  it('reports an engine’s errors in its own words', async ({ fake, dataDir }) => {
    fake.stub('records', 'put', () => {
      throw new VivariumError(
        'invalid_request',
        'value: A: "999.1.1.1" is not an address. See `records.list {"zone":"a.test"}`.',
        { issues: [{ path: 'value', message: 'A: "999.1.1.1" is not an address.' }] },
      );
    });
    const put = ['records', 'put', 'a.test', 'www', 'A', '999.1.1.1', '--data-dir', dataDir];
    expect((await runHere(put)).stderr).toBe(
      `vivarium: VALUE: A: "999.1.1.1" is not an address. See vivarium record list a.test --data-dir ${dataDir}\n`,
    );
    expect(JSON.parse((await runHere([...put, '--json'])).stderr)).toMatchObject({ issues: [{ path: 'value' }] });
  });

  it('names the command that shows the next page', async ({ fake, dataDir }) => {
    const page = { items: [makeEntry(9)], kept: 9, dropped: 0, recording: true, next: 'trf_9' };
    fake.stub('traffic', 'list', () => page);
    const words = ['traffic', 'list', '--filter', 'status:2xx', '--limit', '1', '--data-dir', dataDir];
    const line = `traffic list --filter status:2xx --limit 1 --before trf_9 --data-dir ${dataDir}`;
    expect((await runHere(words)).stdout).toMatch(new RegExp(`recording +true\n\nNext page: .*${line}\n$`));
  });

  it('lists the requests for a bare "traffic", and its procedures for its help', async ({ fake, here }) => {
    fake.stub('traffic', 'list', () => ({ items: [makeEntry(9)], kept: 9, dropped: 0, recording: true }));
    for (const words of ['traffic', 'traffic --filter status:2xx'])
      expect((await here(words.split(' '))).stdout).toMatch(/\nkept +9\n/);
    expect(fake.calls.map(({ input }) => (input as { filter?: string }).filter)).toEqual([undefined, 'status:2xx']);
    for (const words of ['traffic --help', 'help traffic'])
      expect((await runHere(words.split(' '))).stdout).toMatch(/^ {2}watch /m);
  });

  it('reads a long text from a file, and from standard input', async ({ fake, dataDir }) => {
    fake.stub('pets', 'import', () => ({ created: 1, rejected: [], rejectedTotal: 0 }));
    const file = join(temporaryFolder(), 'pets.csv');
    writeFileSync(file, 'name,categoryId\nAda,3\n');
    const command = ['pets', 'import', '--project-id', 'p', '--format', 'csv', '--data-dir', dataDir, '--text-file'];
    await runHere([...command, file]);
    await runHere([...command, '-'], { stdin: 'from stdin' });
    expect(fake.calls.map(({ input }) => (input as { text: string }).text)).toEqual([
      'name,categoryId\nAda,3\n',
      'from stdin',
    ]);
    const missing = await runHere([...command, `${file}.missing`]);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      `vivarium: There is no file ${file}.missing. See "vivarium pet import --help".\n`,
    ]);
  });

  it.each([
    ['projects remove', 'PROJECT is missing: vivarium project remove demo'],
    ['pets list p --lmit 5', 'There is no option --lmit. Did you mean "--limit"? See "vivarium pet list --help".'],
    [
      'pets lst',
      'pet has no procedure "lst". Did you mean "list"? There are list, get, create, update, remove, get-many, update-many, remove-many, clear, import, preview-import, seed.',
    ],
    ['pett', 'There is no command "pett". Did you mean "pet"? "vivarium help --all" lists them all.'],
    ['help pett', 'There is no command "pett". Did you mean "pet"? "vivarium help --all" lists them all.'],
    ['list x', 'There is no command "list". "vivarium help --all" lists them all.'],
    ['--nonsense', 'There is no command "--nonsense"; "vivarium help --all" lists them all.'],
  ])('%s is answered with one line', async (words, line) => {
    expect(await runHere(words.split(' '))).toEqual({ code: 1, stdout: '', stderr: `vivarium: ${line}\n` });
  });

  it('asks for the project first, where no project can be chosen and the first word is none', async () => {
    const { fake, here } = await startFakeEngine();
    fake.stub('projects', 'list', () => ['demo', 'shop'].map((slug) => ({ ...SAMPLE_PROJECT, slug })));
    fake.stub('runs', 'list', () => []);
    for (const words of ['demmo Rex', 'Rex 1', 'Rex red'])
      expect(await here(['pets', 'create', ...words.split(' ')])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^vivarium: Name a project; there are demo, shop\./),
      });
  });

  it('reports a refusal by the other side, in one line or in JSON', async ({ here }) => {
    const told = await here(['projects', 'list']);
    expect([told.code, told.stderr]).toEqual([1, 'vivarium: Vivarium failed; its log has the reason.\n']);
    const json = await here(['projects', 'list', '--json']);
    expect(JSON.parse(json.stderr)).toEqual({
      code: 'internal_error',
      message: 'Vivarium failed; its log has the reason.',
    });
  });

  it('exits 2 when no Vivarium is running', async () => {
    const { code, stderr } = await runHere(['projects', 'list', '--data-dir', temporaryFolder()]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^vivarium: No Vivarium is running on .*\n$/)]);
  });

  it('watches events line by line until it is interrupted', async ({ fake, start }) => {
    fake.stub('events', 'watch', countingStream({ pauseAfter: 2 }).open);
    const child = start(['events', 'watch']);
    const result = finished(child);
    await readUntil(child.stdout, /(?:.*\n){2}/);
    child.kill('SIGINT');
    expect(await result).toEqual({
      code: 0,
      stdout:
        '2026-11-20T09:00:00.000Z  pets.changed  projectId=1\n2026-11-20T09:00:00.000Z  pets.changed  projectId=2\n',
      stderr: '',
    });
  });

  it.for(['events watch', 'projects list'])(
    '%s ends quietly when its reader closes the pipe',
    async (command, { fake, dataDir }) => {
      fake.stub('events', 'watch', countingStream({}).open);
      fake.stub('projects', 'list', () => Array.from({ length: 5_000 }, () => SAMPLE_PROJECT));
      const line = '"$0" "$1" "$3" "$4" --data-dir "$2" | head -n 1';
      const words = [process.execPath, PROGRAM, dataDir, ...command.split(' ')];
      const shell = spawn('bash', ['-o', 'pipefail', '-c', line, ...words]);
      onTestFinished(() => void shell.kill());
      const { code, stdout, stderr } = await finished(shell);
      expect([code, stdout.split('\n').length, stderr]).toEqual([0, 2, '']);
    },
  );

  it('writes a file to standard output with --output -', async ({ fake, here }) => {
    fake.stub('zones', 'export', () => ({ text: '$ORIGIN acme.test.\n' }));
    fake.stub('projects', 'list', () => []);
    const { stdout } = await here(['zones', 'export', 'acme.test', '--output', '-']);
    expect(stdout).toBe('$ORIGIN acme.test.\n');
    const json = await here(['projects', 'list', '--json', '--output=-']);
    expect(json.stdout).toBe('[]\n');
  });
});

describe('a result that is a failure', () => {
  const FAILED = {
    id: 'dpl_1',
    status: 'failed' as const,
    reason: 'Nothing listens.',
    createdAt: '2026-11-20T09:00:00.000Z',
  };

  it.for([
    ['deploys create p', 1],
    ['deploys create p --json', 1],
    ['call deploys.create {"projectId":"p"}', 0],
  ] as const)('%s is printed, with exit code %i', async ([words, code], { fake, here }) => {
    fake.stub('deploys', 'create', () => FAILED);
    const { stdout, ...rest } = await here(words.split(' '));
    expect(rest).toEqual({ code, stderr: '' });
    expect(stdout).toContain('Nothing listens.');
  });
});

describe('vivarium traffic watch', () => {
  async function startTraffic() {
    const { fake, server, start } = await startFakeEngine();
    fake.stub('traffic', 'watch', async function* (_input, { signal }) {
      yield { entries: [makeEntry(1), makeEntry(2, { status: 404 })], missed: 3, dropped: 0, cleared: false };
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    });
    const watch = async (args: readonly string[]) => {
      const child = start(['traffic', 'watch', ...args], { TZ: 'Asia/Kolkata' });
      const result = finished(child);
      await readUntil(child.stdout, /(?:.*\n){3}/);
      child.kill('SIGINT');
      return result;
    };
    return { fake, watch, server };
  }

  it('prints one request a line, with one header, and reports missed entries on standard error', async () => {
    const { fake, watch } = await startTraffic();
    const { code, stdout, stderr } = await watch(['--filter', 'status:>=200', '--project-id', 'p']);
    expect([code, stderr]).toEqual([0, 'vivarium: 3 more requests arrived too fast to be shown.\n']);
    expect(stdout.split('\n').map((line) => line.slice(0, 24))).toEqual([
      'time      status  method',
      '14:30:00  200     GET   ',
      '14:30:00  404     GET   ',
      '',
    ]);
    expect(fake.calls).toEqual([{ procedure: 'traffic.watch', input: { filter: 'status:>=200', projectId: 'p' } }]);
  });

  it('prints one JSON object a line with --json', async () => {
    const { watch } = await startTraffic();
    const { code, stdout, stderr } = await watch(['--json']);
    const values = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect([code, stderr, values]).toEqual([0, '', [makeEntry(1), makeEntry(2, { status: 404 }), { missed: 3 }]]);
  });

  it.each(['watch', 'list'])('refuses a filter with an unknown field, as the list does: %s', async (procedure) => {
    const { code, stderr } = await runHere(['traffic', procedure, '--filter', 'sttus:4xx']);
    expect([code, stderr]).toEqual([
      1,
      `vivarium: --filter sttus: is not a field. Did you mean "status"? To search for it as text, put it in quotes: --filter '"sttus:4xx"'. See "vivarium traffic ${procedure} --help".\n`,
    ]);
  });
});

it('a change to part of a target reads the rest from the running Vivarium', async ({ fake, here }) => {
  const target = { kind: 'upstream', url: 'http://localhost:3000', limited: true } as const;
  fake.stub('projects', 'get', () => ({ ...SAMPLE_PROJECT, target }));
  fake.stub('projects', 'update', () => SAMPLE_PROJECT);
  const { code } = await here(['projects', 'update', 'web', '--target.host', 'keep']);
  expect([code, fake.calls.at(-1)]).toEqual([
    0,
    { procedure: 'projects.update', input: { projectId: 'web', target: { ...target, host: 'keep' } } },
  ]);
});

describe('the streams of the process', () => {
  it.skipIf(!existsSync('/dev/full'))('an output that cannot be written is named on standard error', () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'version'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, 'vivarium: The output cannot be written (the disk is full).\n']);
  });

  it('NO_COLOR together with FORCE_COLOR turns colours off without a warning from Node', async () => {
    const env = { NO_COLOR: '1', FORCE_COLOR: '1' };
    const { code, stderr } = await runCli(['status', '--data-dir', temporaryFolder()], { env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^vivarium: No Vivarium is running.*\n$/)]);
  });
});

describe('on a terminal', () => {
  /** What the command prints on a terminal of that many columns. */
  const onTerminal = (args: readonly string[], columns: number, dataDir: string) =>
    runHere([...args, '--data-dir', dataDir], { isTTY: true, columns, env: { NO_COLOR: '1' } });

  it('a table fits the width, and is complete if the terminal reports no width', async ({ fake, dataDir }) => {
    fake.stub('projects', 'list', () => [{ ...SAMPLE_PROJECT, name: 'Aquarium 🐠' }]);
    const narrow = await onTerminal(['projects', 'list'], 40, dataDir);
    expect(Math.max(...narrow.stdout.split('\n').map(widthOf))).toBeLessThanOrEqual(40);
    expect(narrow.stdout).toContain('Not shown: ');
    const wide = await onTerminal(['projects', 'list'], 0, dataDir);
    expect(wide.stdout.split('\n')).toHaveLength(3);
    expect(wide.stdout).not.toContain('Not shown: ');
  });

  it('control characters are escaped in tables, files and JSON', async ({ fake, dataDir }) => {
    fake.stub('projects', 'list', () => [{ ...SAMPLE_PROJECT, name: 'a\u009b31m' }]);
    fake.stub('zones', 'export', () => ({ text: 'a\u009b31m' }));
    for (const words of ['projects list', 'projects list --json', 'call projects.list', 'zones export a.test']) {
      const { code, stdout } = await onTerminal(words.split(' '), 0, dataDir);
      expect([words, code, stdout.includes('\u009b'), stdout.endsWith('\n')]).toEqual([words, 0, false, true]);
    }
  });

  it('binary output is refused, except with --output -', async ({ fake, dataDir }) => {
    fake.stub('ca', 'export', () => ({ format: 'der', fileName: 'root.der', base64: 'QUI=' }));
    const args = ['ca', 'export', '--format', 'der'];
    expect(await onTerminal(args, 80, dataDir)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('is binary'),
    });
    expect(await onTerminal([...args, '--output', '-'], 80, dataDir)).toEqual({ code: 0, stdout: 'AB', stderr: '' });
  });
});

describe('vivarium', () => {
  it.each([[[]], [['help']], [['--help']], [['-h']]])('%j shows the first words', async (args) => {
    const { code, stdout } = await runHere(args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^vivarium: your own server.*\n\nBegin with\n/)]);
  });

  it.each([
    ['help --all', '\n  call <namespace.procedure>'],
    ['--help --all', '\n  call <namespace.procedure>'],
    ['help serve', 'vivarium start: '],
    ['help start', '--control-port PORT'],
    ['serve --help', 'VIVARIUM_CONTROL_PORT'],
    ['help call', 'Exit code 0'],
    ['pets', 'Procedures\n'],
    ['pets --help', 'Procedures\n'],
    ['help pets create', '--category-id'],
    ['pets create --help', '--category-id'],
    ['pets create -h --data-dir /nonexistent', '--category-id'],
  ])('%s shows help', async (words, part) => {
    const { code, stdout, stderr } = await runHere(words.split(' '));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(part);
  });

  it.each(['--version', '-V', 'version'])('%s prints the version', async (arg) => {
    expect(await runHere([arg])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });
});
