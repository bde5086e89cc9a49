import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { askForStatus } from '../../../main/cli/engine/client.ts';
import { isAlive } from '../../../main/base/system/runtime-file.ts';
import { run } from '../../../main/cli/run.ts';
import { requestStop } from '../../../main/cli/engine/engine-commands.ts';
import { commandHere, runHere } from '../../support/cli-io.ts';
import { runCli, writeRuntime, fakeEngineTest as it } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { takenPort, listen } from '../../support/ports.ts';

const ENGINE_TIMEOUT_MS = 180_000;

/** A data folder whose Vivarium, if any, ends with the test. */
function folderToStart(): string {
  const dataDir = join(temporaryFolder(), 'data');
  onTestFinished(async () => void (await runCli(['stop', '--data-dir', dataDir])));
  return dataDir;
}

describe('a Vivarium in the background', { timeout: ENGINE_TIMEOUT_MS }, () => {
  it('can be started, found, followed and stopped', async () => {
    const dataDir = folderToStart();
    const on = ['--data-dir', dataDir];
    const waiting = runHere(['wait', ...on]);
    const started = await runCli(['start', '-d', '--any-ports', '--empty', ...on]);
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.stdout).toContain(`Stop with vivarium stop --data-dir ${dataDir}\n`);
    expect(await waiting).toEqual({ code: 0, stdout: '', stderr: '' });

    const status = await runHere(['status', ...on]);
    expect(status.stdout).toMatch(/^Vivarium 0\.1\.0 is running\.\n[^]*Contents +0 projects, 0 domains\n/);
    expect(await runCli(['start', '--detach', ...on])).toEqual({
      code: 0,
      stdout: status.stdout,
      stderr: 'vivarium: Already running.\n',
    });
    expect(await runCli(['start', '-d', '--empty', ...on])).toEqual({
      code: 0,
      stdout: status.stdout,
      stderr: 'vivarium: Already running; its options were not changed.\n',
    });
    const { pid, dataDir: shown } = JSON.parse((await runHere(['status', '--json', ...on])).stdout) as {
      pid: number;
      dataDir: string;
    };
    expect([pid, shown]).toEqual([JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')).pid, dataDir]);
    expect((await runHere(['status', 'get', '--json', ...on])).code).toBe(0);

    expect((await runHere(['logs', '-n', '1', ...on])).stdout).toMatch(
      /^\S+ info {2}(?:Serving version="0\.1\.0" control=|Backup written ).*\n$/,
    );
    expect(statSync(join(dataDir, 'logs', 'vivarium.log')).mode & 0o077).toBe(0);

    expect(await runHere(['stop', ...on])).toEqual({ code: 0, stdout: 'Stopped.\n', stderr: '' });
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
    expect((await runHere(['stop', ...on])).code).toBe(2);
    expect((await runHere(['logs', '-n', '1', ...on])).stdout).toContain('Stopping');
  });

  it('starts once for two concurrent commands, which both show it', async () => {
    const args = ['start', '-d', '--any-ports', '--empty', '--data-dir', folderToStart()];
    const both = await Promise.all([runCli(args), runCli(args)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.filter(({ stdout }) => stdout.startsWith('Vivarium 0.1.0 is running.\n'))).toHaveLength(1);
  });

  it('fails with its own error message if it cannot start', async () => {
    const port = await takenPort();
    const args = ['start', '-d', '--any-ports', '--http-port', String(port), '--data-dir', folderToStart()];
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(new RegExp(`^vivarium: Port ${port} .* is taken by .*--http-port; --any-ports .*\\.\n$`));
  });

  it('keeps nothing when it is ephemeral', async () => {
    const dataDir = folderToStart();
    await runCli(['start', '-d', '--ephemeral', '--any-ports', '--empty', '--data-dir', dataDir]);
    expect(existsSync(join(dataDir, 'logs'))).toBe(true);
    const { running } = await askForStatus(dataDir);
    // As on Windows, where a signal ends a process at once: through the control port.
    await requestStop(running);
    await vi.waitFor(() => expect(isAlive(running.pid)).toBe(false), { timeout: ENGINE_TIMEOUT_MS / 2 });
    expect(existsSync(join(dataDir, 'logs'))).toBe(false);
  });
});

describe('without a running Vivarium', () => {
  it.each([['status'], ['stop'], ['open']])('%s exits 2 and tells how to start one', async (command) => {
    const dataDir = temporaryFolder();
    const { code, stdout, stderr } = await runHere([command, '--data-dir', dataDir]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      new RegExp(`^vivarium: No Vivarium is running on ${dataDir}\\. Start one with ".* --data-dir ${dataDir}"\\.\n$`),
    );
  });

  it.for([['status'], ['stop'], ['keys', 'list'], ['call', 'status.get'], ['export']] as const)(
    '%s on a copy of a folder in use exits 2 and names the original folder',
    async ([...command], { url, dataDir: original, fake }) => {
      fake.stub('status', 'get', () => ({ ...STATUS, dataDir: original }));
      const copy = temporaryFolder();
      writeRuntime(copy, { url, dataDir: original });
      const { code, stderr } = await runHere([...command, '--data-dir', copy]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`process ${process.pid} serves ${original}`)]);
    },
  );

  it.each([
    ['logs', '2'],
    ['start', '9080'],
    ['doctor', '--json=false', 'x'],
    ['uninstall', 'x'],
    ['export', 'x', 'y'],
    ['pet list', 'a', 'b'],
  ])('%s with an extra word through npm reports that npm swallows options', async (command, ...words) => {
    const args = [...command.split(' '), ...words];
    const env = { npm_command: 'run', npm_lifecycle_event: 'vivarium', VIVARIUM_COMMAND: undefined };
    const hint = ` npm keeps options that have no -- before them; type "npm run -s vivarium -- ${command} …".`;
    const through = await runHere(args, { env });
    expect([through.code, through.stderr]).toEqual([1, expect.stringContaining(hint)]);
    expect((await runHere(args)).stderr).not.toContain('npm keeps');
  });

  it.each([['stop'], ['status'], ['doctor'], ['wait'], ['export'], ['serve'], ['pets', 'list']])(
    '%s refuses an empty folder instead of using the default one',
    async (...command) => {
      for (const words of [['--data-dir', ''], ['--data-dir=']]) {
        const { code, stderr } = await runHere([...command, ...words]);
        expect([code, stderr]).toEqual([1, expect.stringContaining('--data-dir needs a value.')]);
      }
    },
  );

  it('status --json fails with JSON', async () => {
    const { code, stderr } = await runHere(['status', '--json', '--data-dir', temporaryFolder()]);
    expect([code, JSON.parse(stderr)]).toMatchObject([2, { code: 'unavailable' }]);
  });

  it('wait times out, and exits 1', async () => {
    const dataDir = temporaryFolder();
    expect(await runHere(['wait', '--timeout', '0.2', '--data-dir', dataDir])).toEqual({
      code: 1,
      stdout: '',
      stderr: `vivarium: No Vivarium served ${dataDir} within 0.2 s.\n`,
    });
  });

  it('wait times out even if the engine hangs', async () => {
    const { port } = await listen(createServer());
    const dataDir = temporaryFolder();
    writeRuntime(dataDir, { url: `http://127.0.0.1:${port}` });
    const timeouts = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeouts.mockRestore());
    expect((await runHere(['wait', '--timeout', '0.2', '--data-dir', dataDir])).code).toBe(1);
    expect(Math.max(...timeouts.mock.calls.map(([milliseconds]) => milliseconds))).toBeLessThanOrEqual(200);
  });

  it('logs tells where the logs are', async () => {
    const { code, stderr } = await runHere(['logs', '--data-dir', temporaryFolder()]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no log in ')]);
  });

  it('vivarium without arguments ends with how to begin in a terminal, and is the help alone in a pipe', async () => {
    const dataDir = temporaryFolder();
    const help = (await runHere([])).stdout;
    const { code, stdout } = await runHere(['--data-dir', dataDir], { isTTY: true });
    expect([code, stdout.startsWith(help)]).toEqual([0, true]);
    expect(stdout.slice(help.length)).toMatch(
      /^Nothing is running on [^\n]+ begin with: [^\n]* start -d --data-dir [^\n]+\n$/,
    );
    expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
  });

  it('vivarium without arguments says where one is running', async ({ fake, url, dataDir }) => {
    fake.stub('status', 'get', () => ({ ...STATUS, dataDir }));
    const { stdout } = await runHere(['--data-dir', dataDir], { isTTY: true });
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(`^Running at ${url}, with \\d+ projects?, \\d+ domains?`),
    );
  });
});

describe('a process that is not the folder’s Vivarium', () => {
  it('is not stopped', async ({ url, dataDir, here }) => {
    writeRuntime(dataDir, { url, token: 'old' });
    const { code, stderr } = await here(['stop']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`is not the Vivarium of ${dataDir}`)]);
  });

  it('does not end a wait, which ends when every listener is ready', async ({ server, here }) => {
    expect((await here(['wait', '--timeout', '0'])).code).toBe(1);
    server.ready();
    expect((await here(['wait', '--timeout', '30s'])).code).toBe(0);
  });
});

describe('vivarium open', () => {
  it.for([
    ['opens a browser with a link that signs in', 0, /^Opened http:/],
    ['prints the link if the opener fails', 3, /\n {2}http:\/\/127\.0\.0\.1:\d+\/#ticket=\w{43}\n$/],
  ] as const)('%s', async ([_what, code, output], { fake, dataDir, here }) => {
    fake.stub('status', 'get', () => ({ ...STATUS, dataDir }));
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${folder}/opened\nexit ${code}\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${folder}:${process.env.PATH ?? ''}` };
    expect(await here(['open'], { env })).toMatchObject({ code: 0, stdout: expect.stringMatching(output) });
    expect(readFileSync(join(folder, 'opened'), 'utf8')).toMatch(/\/#ticket=\w{43}$/);
  });

  it('opens a hostname as "reach open" does', async ({ fake, dataDir }) => {
    fake.stub('reach', 'open', (input) => ({
      url: `https://app.acme.test/`,
      browser: JSON.stringify(input),
      trust: 'root',
    }));
    expect(await runHere(['open', '--data-dir', dataDir, 'app.acme.test', '--browser', 'firefox'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('{"hostname":"app.acme.test","browser":"firefox"}'),
    });
  });
});

describe('vivarium logs', () => {
  it.each([
    ['9', 'one\ntwo\n'],
    ['0', ''],
  ])('-n %s prints at most as many of two lines', async (wanted, stdout) => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'logs'));
    writeFileSync(join(dataDir, 'logs', 'vivarium.log'), 'one\ntwo\n');
    expect(await runHere(['logs', '-n', wanted, '--data-dir', dataDir])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('prints the last lines across several files, and follows into the next one', async () => {
    const dataDir = temporaryFolder();
    const folder = join(dataDir, 'logs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'vivarium.1.log'), 'one\ntwo\n');
    const current = join(folder, 'vivarium.log');
    writeFileSync(current, 'three\u001b[31m\n');
    const { io, printed, interrupt } = commandHere();
    const ended = run(['logs', '-f', '--lines=2', '--data-dir', dataDir], io, {
      self: ['false'],
      loadEngine: () => Promise.reject(new Error('none')),
    });
    await expect.poll(() => printed.stdout).toBe('two\nthree\\u{1b}[31m\n');
    writeFileSync(current, 'four\nfi', { flag: 'a' });
    await expect.poll(() => printed.stdout).toMatch(/four\n$/);
    writeFileSync(join(folder, 'next'), 'six\n');
    writeFileSync(current, 've\n', { flag: 'a' });
    renameSync(join(folder, 'next'), current);
    await expect.poll(() => printed.stdout).toMatch(/four\nfive\nsix\n$/);
    interrupt();
    expect(await ended).toBe(0);
  });
});

const STATUS = {
  version: '0.1.0',
  platformZone: 'vivarium.localhost',
  ports: { http: 1, https: 2, dns: 3, control: 4 },
  urls: { control: 'http://127.0.0.1:4', http: 'http://127.0.0.1:1', https: 'https://127.0.0.1:2' },
  counts: { projects: 0, keys: 0, domains: 0, pets: 0, requests: 0, refused: 0, connections: 0 },
  warnings: [],
};
