import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { signInWith } from '../../support/rpc/rpc-control.ts';
import { FREE_PORTS, startProgram } from '../../support/program.ts';
import { readUntil } from '../../support/proxy/proxy-raw.ts';
import { requireTool } from '../../support/tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execute as run } from '../../support/command.ts';

const curlLines = (stdout: string): string[] =>
  stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('curl '));

describe('the console', () => {
  it('shows requests that work when pasted: over HTTP, over verified HTTPS, and one that adds a pet', async () => {
    requireTool('curl');
    const program = await startProgram();
    const lines = curlLines(program.output().stdout);
    expect(lines).toHaveLength(3);
    const answers = await Promise.all(
      lines.map(async (line) => {
        const { stdout } = await run('bash', [
          '-c',
          line.replace(`-w '\\n'`, `-sS -w '\\n%{http_code} %{ssl_verify_result} %{scheme}'`),
        ]);
        const [body = '', facts = ''] = stdout.split(/\n(?=[^\n]*$)/);
        return { body: JSON.parse(body) as unknown, facts };
      }),
    );
    expect(answers.map(({ facts }) => facts)).toEqual(['200 0 HTTP', '200 0 HTTPS', '201 0 HTTP']);
    expect(answers[0]?.body).toHaveLength(3);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect(answers[2]?.body).toEqual({ id: 31, name: 'Rex', categoryId: 1, status: 'available' });
  });

  it('works with a data folder that has blanks and quotes in its name', async () => {
    const program = await startProgram([], { dataDir: join(temporaryFolder(), `it's a folder`) });
    const [, secure = ''] = curlLines(program.output().stdout);
    const { stdout } = await run('bash', ['-c', secure.replace('curl ', 'curl -sS ')]);
    expect(JSON.parse(stdout)).toHaveLength(3);
    expect(stdout).toMatch(/\n$/);
  });

  it('shows commands for this Vivarium if its data folder is not the usual one', async () => {
    const program = await startProgram([], { dataDir: join(temporaryFolder(), `it's a folder`) });
    const command = /see them with {2}(.*)/.exec(program.output().stdout)?.[1] ?? '';
    const { stdout } = await run('bash', ['-c', command]);
    expect(stdout).toContain('shop.happypaws.test');
  });

  it('shows the same on the second start', async () => {
    const first = await startProgram();
    const { stdout } = await first.end();
    const second = await startProgram([], { dataDir: first.dataDir });
    const key = /viv_\w{32}/;
    expect(key.exec(second.output().stdout)?.[0]).toBe(key.exec(stdout)?.[0]);
  });

  it('is plain in a pipe, and coloured if colour is forced', async () => {
    const plain = await startProgram();
    expect(plain.output().stdout).not.toContain('\u001b');
    const coloured = await startProgram([], { env: { NO_COLOR: '', FORCE_COLOR: '1' } });
    expect(coloured.output().stdout).toContain('\u001b[32m');
  });
});

it('--open gives the default browser a link that signs in once', async () => {
  const folder = temporaryFolder();
  const opened = join(folder, 'opened');
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`, { mode: 0o755 });
  const program = await startProgram(['--open', '--empty'], { env: { PATH: `${folder}:${process.env.PATH ?? ''}` } });
  await expect.poll(() => readFileSync(opened, 'utf8')).toMatch(/\/#ticket=\w{43}$/);
  const link = readFileSync(opened, 'utf8');
  expect(link.startsWith(`${program.runtime.control.url}/`)).toBe(true);
  expect((await signInWith(link)).status).toBe(200);
});

describe('shutdown', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s drains, removes runtime.json, and exits 0', async (signal) => {
    const program = await startProgram();
    const { code, stdout, stderr } = await program.end(signal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\n {2}Stopping\.\n$/);
    expect(existsSync(join(program.dataDir, 'runtime.json'))).toBe(false);
  });

  it('waits for requests in progress, and tells how many', async () => {
    const program = await startProgram();
    const upload = request({
      port: program.runtime.http.port,
      method: 'POST',
      path: '/v1/pets',
      headers: { host: 'demo.vivarium.localhost', 'content-length': 9, expect: '100-continue' },
    });
    upload.on('error', () => undefined).flushHeaders();
    await once(upload, 'continue');
    const ended = program.end();
    await expect.poll(() => program.output().stdout).toContain('Stopping: waiting for 1 request in progress.\n');
    upload.destroy();
    expect((await ended).code).toBe(0);
  });

  it('follows when only the shell above the launcher is stopped, as npm does', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const launcher = join(import.meta.dirname, '..', '..', '..', 'main', 'cli', 'launch.mjs');
    const command = `node ${launcher} vivarium serve --data-dir ${dataDir} ${FREE_PORTS.join(' ')}; true`;
    const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
    await readUntil(shell.stdout, /Stop with Ctrl-C/);
    const rest = text(shell.stdout);
    shell.kill('SIGTERM');
    // The pipe closes when the last process that holds it has ended: the engine.
    expect(await rest).toContain('Stopping');
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
  });

  it('leaves nothing behind with --ephemeral', async () => {
    const parent = temporaryFolder();
    const program = await startProgram(['--ephemeral'], { dataDir: join(parent, 'data') });
    expect(existsSync(program.runtime.caFile)).toBe(true);
    await program.end();
    expect(existsSync(program.runtime.caFile)).toBe(false);
    expect(readdirSync(parent)).toEqual([]);
  });
});
