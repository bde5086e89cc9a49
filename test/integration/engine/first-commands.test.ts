import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { track } from '../../support/engine.ts';
import { commandsOf, README } from '../../support/documents/pasted-documents.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** npm twice, and two starts of Vivarium, on a busy machine. */
const FIRST_PATH_MS = 240_000;

/** nobody, if the tests run as root: to them, no folder is closed. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A home folder that only its user opens. It is below `/tmp`, because others cannot enter the folders of the tests. */
function makeHome(): string {
  const home = mkdtempSync('/tmp/vivarium-home-');
  track(() => rmSync(home, { recursive: true, force: true }));
  const closed = join(home, 'closed');
  mkdirSync(closed);
  writeFileSync(join(home, 'npmrc'), `prefix=${closed}\nupdate-notifier=false\n`);
  if (USER.uid !== undefined) chownSync(home, USER.uid, USER.gid);
  chmodSync(closed, 0o555);
  return home;
}

it(
  'the first commands of the README work for a user who may not write to npm’s folder',
  { timeout: FIRST_PATH_MS },
  async () => {
    const home = makeHome();
    const env = {
      HOME: home,
      PATH: `${join(process.execPath, '..')}:/usr/local/bin:/usr/bin:/bin`,
      NPM_CONFIG_GLOBALCONFIG: join(home, 'npmrc'),
      VIVARIUM_HTTP_PORT: '0',
      VIVARIUM_HTTPS_PORT: '0',
      VIVARIUM_DNS_PORT: '0',
      VIVARIUM_CONTROL_PORT: '0',
      NO_COLOR: '1',
    };
    const [link = '', run = '', ...otherwise] = commandsOf(README);
    const remedy = otherwise.slice(0, otherwise.indexOf('npm start'));
    const bash = (commands: readonly string[]) =>
      spawnSync('bash', ['--norc', '-c', commands.join('\n')], { ...USER, cwd: ROOT, env, encoding: 'utf8' });

    expect(bash([link]).stderr).toContain('EACCES');
    const linked = bash([...remedy, 'command -v vivarium']);
    expect(linked.stdout, linked.stderr).toContain(join(home, '.local', 'bin', 'vivarium'));

    const PATH = `${join(home, '.local', 'bin')}:${env.PATH}`;
    const vivarium = (words: string) =>
      spawnSync('bash', ['--norc', '-c', `vivarium ${words}`], {
        ...USER,
        cwd: home,
        env: { ...env, PATH },
        encoding: 'utf8',
      });
    track(() => void vivarium('stop'));
    const child = spawn('bash', ['--norc', '-c', `exec ${run}`], { ...USER, cwd: ROOT, env: { ...env, PATH } });
    const ended = new Promise((resolve) => child.once('close', resolve));
    track(() => void child.kill('SIGKILL'));
    const address = await new Promise<URL>((resolve, reject) => {
      let printed = '';
      const add = (chunk: Buffer) => {
        printed += chunk.toString();
        const [, url] = /(https:\/\/\S+):? +Open it: vivarium open /.exec(printed) ?? [];
        if (url !== undefined) resolve(new URL(url));
      };
      child.stdout.on('data', add);
      child.stderr.on('data', add);
      void ended.then(() => reject(new Error(printed)));
    });
    expect(address.hostname).toMatch(/^(?:.+\.)?app\.acme\.test$/);

    const ca = vivarium('ca export --output -').stdout;
    const body = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = address;
      request(
        { host: '127.0.0.1', port, path: '/', servername: hostname, headers: { host: address.host }, ca },
        (response) => resolve(text(response)),
      )
        .once('error', reject)
        .end();
    });
    expect(body).toContain(`You have opened ${address.href}`);

    child.kill('SIGINT');
    await ended;
    expect(vivarium('ps').stdout).toContain('No command is served at a hostname.');
  },
);
