import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../main/headless.ts';
import type { DoctorReport } from '../../../main/contract/doctor.ts';
import { runHere } from '../../support/cli-io.ts';
import { commandsOf } from '../store/restoring.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { type Ended, FREE_PORTS, runProgram, startProgram } from '../../support/program.ts';
import type { Finished } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { takenPort } from '../../support/ports.ts';
import { hasSmallDisks, onSmallDisk } from '../../support/small-disk.ts';
import { runIn } from '../../support/sqlite.ts';

function startOnFullDisk(folder: string, size: string, prepare: string): Promise<Ended> {
  const args = ['serve', '--data-dir', join(folder, 'data'), ...FREE_PORTS];
  return runProgram(args, {}, onSmallDisk(folder, size, prepare));
}

/** One line on standard error, exit code 1, nothing on standard output. */
const refusal = async (args: readonly string[], env?: Record<string, string>): Promise<string> =>
  lineOf(await runProgram(['serve', ...args], env));

/** The same in this process, for reasons that lie in the arguments, the folder or a port. */
const refusalHere = async (args: readonly string[], env?: Record<string, string>): Promise<string> =>
  lineOf(await serveHere(args, env));

async function serveHere(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  // A start that succeeds ends at once, with exit code 0.
  const stopped = { onStopSignal: (stop: (signal: string) => void) => (stop('SIGTERM'), () => undefined) };
  const loadEngine = () => Promise.resolve<typeof serve>((config, io) => serve(config, { ...io, ...stopped }));
  try {
    return await runHere(['serve', ...args], { env, loadEngine });
  } finally {
    // What a start sets for its process is not for the other files of this worker.
    setFlagsFromString('--heap-growing-percent=0');
  }
}

function lineOf({ code, stdout, stderr }: Pick<Ended, 'code' | 'stdout' | 'stderr'>): string {
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length, stderr }).toMatchObject({
    code: 1,
    stdout: '',
    lines: 1,
  });
  return stderr;
}

/** Leaves a folder with the demo. */
async function stoppedEngine(): Promise<Engine> {
  const engine = await startEngine();
  await engine.stop();
  return engine;
}

describe('a start that cannot succeed gives the reason in one line and exits 1', () => {
  it.each(['http', 'https', 'dns', 'control'])(
    'when the %s port is in use, naming the port and the option',
    async (name) => {
      const port = await takenPort();
      const args = [...FREE_PORTS];
      args[args.indexOf(`--${name}-port`) + 1] = String(port);
      const dataDir = join(temporaryFolder(), 'data');
      const line = await refusalHere(['--data-dir', dataDir, ...args]);
      expect(line).toContain(String(port));
      expect(existsSync(dataDir)).toBe(false);
      expect(line).toContain(`--${name}-port; --any-ports takes free ones where none is given.`);
      if (process.platform === 'linux') expect(line).toContain(String(process.pid));
    },
  );

  it('when the built program is run with a Node that is too old', async () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.20.0' } })`;
    const line = await refusal([], { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}` });
    expect(line).toMatch(/^Vivarium needs Node 24\.9 or newer \(or 22 from 22\.21\)/);
  });

  it('when a port is in use, leaving an existing folder unchanged', async () => {
    const running = await startProgram();
    await running.end();
    const names = () => readdirSync(running.dataDir, { recursive: true }).sort();
    const before = names();
    await refusalHere(['--data-dir', running.dataDir, ...FREE_PORTS, '--https-port', String(await takenPort())]);
    expect(names()).toEqual(before);
    // So does an empty folder.
    rmSync(running.dataDir, { recursive: true });
    mkdirSync(running.dataDir, { mode: 0o700 });
    await refusalHere(['--data-dir', running.dataDir, ...FREE_PORTS, '--https-port', String(await takenPort())]);
    expect(names()).toContain('vivarium.db');
  });

  it('when several ports are in use, naming all of them with their options', async () => {
    const ports = [await takenPort(), await takenPort()];
    const given = ['--https-port', String(ports[0]), '--control-port', String(ports[1])];
    const { code, stderr } = await serveHere(['--ephemeral', '--any-ports', ...given]);
    expect([code, stderr.trimEnd().split('\n')]).toEqual([
      1,
      [
        'vivarium: Ports already in use:',
        expect.stringMatching(new RegExp(`^  ${ports[0]} \\(--https-port\\).*`)),
        expect.stringMatching(new RegExp(`^  ${ports[1]} \\(--control-port\\).*`)),
        'Stop what holds them, or choose other ports; --any-ports takes free ones where none is given.',
      ],
    ]);
    expect(stderr).not.toContain('Vivarium');
  });

  it('when the Vivarium of the usual folder holds a port, with the command that stops it', async () => {
    const home = temporaryFolder();
    const running = await startProgram([], { dataDir: join(home, 'vivarium') });
    const given = ['--http-port', String(running.runtime.http.port)];
    const { code, stderr } = await runProgram(['serve', '--ephemeral', '--any-ports', ...given], {
      XDG_DATA_HOME: home,
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`(pid ${running.child.pid}), which is a Vivarium on ${join(home, 'vivarium')}\n`);
    expect(stderr).toContain('Stop that Vivarium with "npm run -s vivarium -- stop", or');
    // If the environment names another folder, the command has to name this one.
    const named = await runProgram(['serve', '--any-ports', ...given], {
      XDG_DATA_HOME: home,
      VIVARIUM_DATA_DIR: join(home, 'other'),
    });
    expect(named.stderr).toContain(`Stop that Vivarium with "npm run -s vivarium -- stop --data-dir ${home}/vivarium"`);
  });

  it('when a Vivarium on another folder holds the control port, which identifies itself', async () => {
    const running = await startProgram();
    const { control, dns } = running.runtime;
    const given = ['--dns-port', String(dns.port), '--control-port', new URL(control.url).port];
    const { stderr } = await runProgram(['serve', '--ephemeral', '--any-ports', ...given], {
      XDG_DATA_HOME: temporaryFolder(),
    });
    expect(stderr.match(/\(pid \d+\), which is a Vivarium$/gm)).toHaveLength(2);
  });

  it('when the folder is in use, naming the Vivarium that runs there', async () => {
    const running = await startProgram();
    const line = await refusal(['--data-dir', running.dataDir, ...FREE_PORTS]);
    expect(line).toContain('already running');
    expect(line).toContain(String(running.child.pid));
    expect(line).toContain(running.runtime.control.url);
    const own = (command: string) => `"npm run -s vivarium -- ${command} --data-dir ${running.dataDir}"`;
    expect(line).toContain(`Open it with ${own('open')}, stop it with ${own('stop')}, or `);
    expect((await running.end()).code).toBe(0);
  });

  it.runIf(hasSmallDisks)('when the disk is full, whatever is written first', async () => {
    const killed = await startProgram();
    await killed.end('SIGKILL');
    const folder = temporaryFolder();
    const again = `cp -r ${killed.dataDir} ${folder}/data; cat /dev/zero > ${folder}/rest`;
    for (const [size, prepare] of [
      ['128k', ''],
      // The database fits, but the index of its log does not.
      ['256k', ''],
      ['2m', again],
    ] as const) {
      const { code, stderr } = await startOnFullDisk(folder, size, prepare);
      const said = `vivarium: The disk that holds ${folder}/data`;
      expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([1, expect.stringContaining(said)]);
      expect(stderr).toMatch(/ is full[;.].* Free some space on it, then /);
    }
  });

  it('when the folder holds foreign files, which are kept', async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'thesis.doc'), 'years of work');
    const line = await refusalHere(['--data-dir', dataDir, ...FREE_PORTS]);
    expect(line).toContain('thesis.doc');
    expect(readFileSync(join(dataDir, 'thesis.doc'), 'utf8')).toBe('years of work');
  });

  it('when a folder is in the place of a file, or the other way round', async () => {
    for (const [name, other] of [
      ['control-token', 'demo-key.json'],
      ['ca', 'snapshots'],
    ] as const) {
      for (const taken of [name, other]) {
        const dataDir = temporaryFolder();
        const [is, keeps] = name === 'ca' ? ['file', 'folder'] : ['folder', 'file'];
        if (is === 'file') writeFileSync(join(dataDir, taken), '');
        else mkdirSync(join(dataDir, taken));
        expect(await refusalHere(['--data-dir', dataDir, ...FREE_PORTS])).toBe(
          `vivarium: ${join(dataDir, taken)} is a ${is}, but Vivarium keeps a ${keeps} there; move it away.\n`,
        );
      }
    }
  });

  it('when the folder is a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(await refusalHere(['--data-dir', file, ...FREE_PORTS])).toBe(
      `vivarium: The data folder ${file} is a file; choose a folder with --data-dir.\n`,
    );
  });

  it('when the folder cannot be created or written', async () => {
    // Permissions do not stop root, so for root the test uses /sys.
    const isRoot = process.getuid?.() === 0;
    const dataDir = isRoot ? '/sys/vivarium' : join(temporaryFolder(), 'locked');
    if (!isRoot) mkdirSync(dataDir, { mode: 0o500 });
    const line = await refusalHere(['--data-dir', dataDir, ...FREE_PORTS]);
    expect(line).toContain(`${dataDir} can't be written`);
    expect(line).toContain('--data-dir');
  });

  it('when a newer Vivarium wrote the file', async () => {
    const first = await stoppedEngine();
    runIn(join(first.dataDir, 'vivarium.db'), 'PRAGMA user_version = 9999');
    expect(await refusalHere(['--data-dir', first.dataDir, ...FREE_PORTS])).toMatch(/newer|9999/);
  });

  it.each([
    [['--htttp-port', '0'], '--http-port'],
    [['--http-port', 'eighty'], '--http-port'],
    [['--http-port', '65536'], '65535'],
    [['--http-port'], '--http-port'],
    [['stray'], 'stray'],
  ])('for the options %j', async (args, mention) => {
    expect(await refusalHere(args)).toContain(mention);
  });

  it('for an invalid environment variable', async () => {
    expect(await refusalHere([], { VIVARIUM_HTTP_PORT: 'eighty' })).toContain('VIVARIUM_HTTP_PORT');
  });
});

it('a damaged file is reported with instructions to restore it, and nothing is overwritten', async () => {
  const first = await stoppedEngine();
  const file = join(first.dataDir, 'vivarium.db');
  const damaged = readFileSync(file);
  damaged.fill(0xff, 0, 200);
  writeFileSync(file, damaged);
  const { code, stderr } = await serveHere(['--data-dir', first.dataDir, ...FREE_PORTS]);
  expect(code).toBe(1);
  expect(stderr).toContain(file);
  expect(readFileSync(file).equals(damaged)).toBe(true);
});

it.each(['missing', 'empty'])(
  'a database that is lost stops a start, which says how to start over, and the doctor finds it: %s',
  async (how) => {
    const first = await stoppedEngine();
    const { dataDir } = first;
    const file = join(dataDir, 'vivarium.db');
    if (how === 'missing') rmSync(file);
    else truncateSync(file);
    const names = () => readdirSync(dataDir, { recursive: true }).sort();
    const before = names();
    const what = `it is ${how}, but there are files of an earlier start: control-token, demo-key.json`;

    const { code, stdout, stderr } = await serveHere(['--data-dir', dataDir, ...FREE_PORTS]);
    expect([code, stdout, names()]).toEqual([1, '', before]);
    expect(stderr).toContain(`vivarium: The database ${file} is damaged: ${what}. Nothing was overwritten or deleted.`);
    const found = await runHere(['doctor', '--json', '--data-dir', dataDir]);
    const { checks } = JSON.parse(found.stdout) as DoctorReport;
    expect(checks.find(({ id }) => id === 'data.database')).toMatchObject({
      status: 'failed',
      evidence: [expect.stringContaining(what)],
    });

    for (const command of commandsOf(stderr)) execFileSync('sh', ['-c', command]);
    await (await startEngine({ dataDir })).stop();
    expect(names()).toEqual(expect.arrayContaining(['vivarium.db', 'ca', 'backups/set-aside-1/control-token']));
  },
);

it('a row that Vivarium cannot use is named by a start and by the doctor, with the command that leaves it out after a copy', async () => {
  const first = await stoppedEngine();
  const at = ['--data-dir', first.dataDir];
  runIn(join(first.dataDir, 'vivarium.db'), "UPDATE projects SET target = 'null' WHERE slug = 'happy-paws'");
  const row = 'the row slug "happy-paws" in the table projects: target must be an object';
  const command = `vivarium doctor --drop-bad-rows ${at.join(' ')}`;

  const { code, stdout, stderr } = await runProgram(['serve', ...at, ...FREE_PORTS], { VIVARIUM_COMMAND: 'vivarium' });
  expect({ code, stdout, stack: / at /.test(stderr) }).toEqual({ code: 1, stdout: '', stack: false });
  expect(stderr).toContain(
    `because of ${row}. To leave out such rows, with what belongs to them, after a copy: ${command}\n`,
  );
  const found = await runHere(['doctor', '--json', ...at]);
  const { checks } = JSON.parse(found.stdout) as DoctorReport;
  expect(checks.find(({ id }) => id === 'data.database')).toMatchObject({
    status: 'failed',
    evidence: [expect.stringContaining(row)],
    commands: expect.stringContaining(command.slice('vivarium'.length)),
  });

  const left = await runHere(['doctor', '--drop-bad-rows', ...at]);
  const [, copy = ''] = /The database as it was: (.*)/.exec(left.stdout) ?? [];
  expect([left.code, left.stdout.includes(row), existsSync(copy)]).toEqual([0, true, true]);
  expect((await runHere(['doctor', '--drop-bad-rows', ...at])).stdout).toBe(
    'Every row can be used; nothing was changed.\n',
  );
  await startEngine({ dataDir: first.dataDir });
  expect((await runHere(['doctor', '--drop-bad-rows', ...at])).stderr).toContain('Stop it first');
});
