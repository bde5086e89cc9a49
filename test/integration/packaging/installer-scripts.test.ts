import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execute as run } from '../../support/command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** A system in a folder, as the scripts of the Linux packages find it after unpacking. */
function createSystem(programs: Record<string, string> = {}) {
  const place = temporaryFolder();
  const write = (name: string, script: string) => {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  };
  for (const name of ['chrome-sandbox', 'resources/apparmor-profile']) write(`opt/${name}`, '');
  write('opt/vivarium-desktop', programs['vivarium-desktop'] ?? 'exit 0');
  write('apparmor.d/own', '');
  for (const name of ['update-alternatives', 'update-desktop-database', 'apparmor_parser'])
    write(`bin/${name}`, programs[name] ?? `echo ${name} "$@" >> ${join(place, 'calls')}`);
  // The real program changes the user; this one prints which user, and runs the rest.
  write('bin/setpriv', `echo "$1 $2" > ${join(place, 'user')}; shift 3; exec "$@"`);
  const calls = join(place, 'calls');
  return {
    /** Runs a script as filled in by electron-builder; returns its output. */
    async run(name: string, ...args: string[]): Promise<string> {
      const text = readFileSync(join(ROOT, 'resources', 'linux', name), 'utf8')
        .replaceAll('${executable}', 'vivarium-desktop')
        .replaceAll('/opt/${sanitizedProductName}', join(place, 'opt'))
        .replaceAll('/etc/apparmor.d', join(place, 'apparmor.d'));
      const env = { PATH: `${join(place, 'bin')}${delimiter}${process.env.PATH ?? ''}` };
      return (await run('sh', ['-c', text, name, ...args], { env })).stdout;
    },
    sandboxMode: () => statSync(join(place, 'opt', 'chrome-sandbox')).mode & 0o7777,
    profiles: () => readdirSync(join(place, 'apparmor.d')),
    user: () => readFileSync(join(place, 'user'), 'utf8'),
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8') : ''),
  };
}

describe.runIf(process.platform === 'linux')('the packages for Linux', () => {
  it.each<[what: string, programs: Record<string, string>, sandboxMode: number, profiles: string[]]>([
    ['works', {}, 0o755, ['own', 'vivarium-desktop']],
    ['denies it to ordinary users', { 'vivarium-desktop': 'kill -TRAP $$' }, 0o4755, ['own', 'vivarium-desktop']],
    ['cannot run the program for another reason', { 'vivarium-desktop': 'exit 1' }, 0o755, ['own', 'vivarium-desktop']],
    ['lacks a library', { 'vivarium-desktop': 'exit 127' }, 0o755, ['own', 'vivarium-desktop']],
    ['is too slow', { 'vivarium-desktop': 'exit 124' }, 0o755, ['own', 'vivarium-desktop']],
    ['needs no profile that AppArmor could read', { apparmor_parser: 'exit 1' }, 0o755, ['own']],
  ])(
    'make the sandbox’s helper set-user-ID root only where there is no other sandbox: on a system that %s',
    async (_what, programs, sandboxMode, profiles) => {
      const system = createSystem(programs);
      await system.run('after-install.sh');
      expect(system.sandboxMode()).toBe(sandboxMode);
      expect(system.profiles()).toEqual(profiles);
      expect(system.user()).toMatch(/^--reuid=nobody --regid=\d+\n$/);
    },
  );

  it.each(['remove', 'purge', '0'])('undo their changes when they are removed (%s)', async (what) => {
    const system = createSystem();
    await system.run('after-install.sh');
    await system.run('after-remove.sh', what);
    expect(system.profiles()).toEqual(['own']);
    expect(system.calls()).toMatch(/update-alternatives --remove vivarium-desktop .*\/opt\/vivarium-desktop\n/);
    expect(system.calls()).toMatch(/apparmor_parser --remove .*\/vivarium-desktop\n/);
  });

  it.each(['upgrade', 'failed-upgrade', '1'])('keep their changes during an upgrade (%s)', async (what) => {
    const system = createSystem();
    await system.run('after-install.sh');
    await system.run('after-remove.sh', what);
    expect(system.profiles()).toEqual(['own', 'vivarium-desktop']);
    expect(system.calls()).not.toContain('--remove');
    expect(await system.run('before-remove.sh', what)).toBe('');
  });

  it.each(['remove', '0'])('list before their removal what stays (%s)', async (what) => {
    const text = await createSystem().run('before-remove.sh', what);
    expect(text).toContain('~/.local/share/vivarium');
    expect(text).toContain('"vivarium uninstall"');
  });
});
