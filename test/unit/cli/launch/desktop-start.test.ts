import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVE_FLAGS } from '../../../../main/cli/engine/serve-options.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

interface Surroundings {
  platform: NodeJS.Platform;
  env: Record<string, string>;
  args: string[];
  userId: number | null;
  sandboxFix: string | null;
}

/** The launcher's own JavaScript, which has no types because it runs in any Node. */
const {
  planStart,
  planAgain,
  electronArguments,
  electronEnvironment,
  findElectron,
  findSandboxFix,
  couldNotRun,
  START_SWITCHES,
  START_VALUES,
} = (await import(new URL('../../../../main/cli/launch/desktop-start.mjs', import.meta.url).href)) as {
  planStart(surroundings: Surroundings): {
    window: boolean;
    reason: string | null;
    open: boolean;
    command: string;
    args: string[];
  };
  planAgain(surroundings: Pick<Surroundings, 'env' | 'args'>): string | null;
  START_SWITCHES: string[];
  START_VALUES: string[];
  electronArguments(root: string, flags: string[], args: string[]): string[];
  electronEnvironment(env: Record<string, string>): Record<string, string>;
  findElectron(root: string): string | null;
  findSandboxFix(root: string, system: string): string | null;
  couldNotRun(end: { code: number | null; signal: string | null; elapsedMs: number; stopped: boolean }): boolean;
};

const DESK: Surroundings = { platform: 'linux', env: { DISPLAY: ':0' }, args: [], userId: 1000, sandboxFix: null };

describe('npm start', () => {
  it('hands Electron no variable of another Electron, such as that of the editor whose terminal it was typed in', () => {
    const own = { PATH: '/bin', NODE_OPTIONS: '--enable-source-maps', ELECTRON_OZONE_PLATFORM_HINT: 'auto' };
    const leaked = ['RUN_AS_NODE', 'NO_ASAR', 'FORCE_IS_PACKAGED', 'OVERRIDE_DIST_PATH', 'NO_ATTACH_CONSOLE'];
    const hostile = Object.fromEntries(leaked.map((name) => [`ELECTRON_${name}`, '1']));
    expect(electronEnvironment({ ...own, ...hostile })).toEqual(own);
  });

  it.each<[where: string, surroundings: Partial<Surroundings>]>([
    ['Linux with X11', {}],
    ['Linux with Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }],
    ['macOS', { platform: 'darwin', env: {}, userId: 501 }],
    ['Windows', { platform: 'win32', env: {}, userId: null }],
  ])('opens a window on %s', (_where, surroundings) => {
    expect(planStart({ ...DESK, ...surroundings })).toMatchObject({ window: true, reason: null });
  });

  it.each<[surroundings: Partial<Surroundings>, reason: string, open: boolean]>([
    [{ env: {} }, 'there is no display', false],
    [{ env: { DISPLAY: '' } }, 'there is no display', false],
    [{ env: { DISPLAY: ':0', CI: 'true' } }, 'this is a build machine (CI is set)', false],
    [{ platform: 'darwin', env: { CI: '1' } }, 'this is a build machine (CI is set)', false],
    [{ userId: 0 }, 'Electron does not run as root', true],
    [{ sandboxFix: '  sudo x' }, 'this system denies Electron its sandbox until you run\n\n  sudo x\n\n', true],
  ])('with %j prints: %s; opens a browser: %s', (surroundings, reason, open) => {
    const silent = { window: false, command: 'serve', args: [] };
    expect(planStart({ ...DESK, ...surroundings })).toEqual({ ...silent, reason, open });
  });

  it.each<[surroundings: Partial<Surroundings>, command: string, args: string[]]>([
    [{ args: ['--headless', '--empty'] }, 'serve', ['--empty']],
    [{ args: ['--http-port', '0', '--headless'] }, 'serve', ['--http-port', '0']],
    [{ env: { DISPLAY: ':0', VIVARIUM_HEADLESS: '1' } }, 'serve', []],
    [{ args: ['-d', '--any-ports'] }, 'start', ['-d', '--any-ports']],
    [{ args: ['--detach', '--headless'] }, 'start', ['--detach']],
    [{ args: ['--help'], env: {} }, 'start', ['--help']],
  ])('with %j silently opens no window', (surroundings, command, args) => {
    const silent = { window: false, reason: null, open: false };
    expect(planStart({ ...DESK, ...surroundings })).toEqual({ ...silent, command, args });
  });
});

describe('npm start without -- before its options, which npm then takes', () => {
  it.each<[args: string[], taken: Record<string, string>, line: string | null]>([
    [[], { npm_config_headless: 'true', npm_config_empty: 'true' }, 'npm start -- --headless --empty'],
    [['9080'], { npm_config_http_port: 'true' }, 'npm start -- --http-port 9080'],
    [[], { npm_config_http_port: '9080' }, 'npm start -- --http-port 9080'],
    [
      ['1', '2'],
      { npm_config_http_port: 'true', npm_config_dns_port: 'true' },
      'npm start -- --http-port … --dns-port …',
    ],
    [['--headless'], { npm_config_empty: 'true' }, null],
    [[], { npm_config_color: 'false' }, null],
  ])('%j with %j is answered with %s', (args, taken, line) => {
    expect(planAgain({ args, env: { npm_command: 'start', ...taken } })).toBe(line);
  });

  it('is recognised for every option of serve', () => {
    const names = SERVE_FLAGS.map(({ name }) => name).filter((name) => name !== 'help');
    expect([...START_SWITCHES, ...START_VALUES].sort()).toEqual(['headless', ...names].sort());
  });
});

describe('Electron’s sandbox', () => {
  function fixOn(files: Record<string, string>, root = '/clone'): string | null {
    const system = temporaryFolder();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(system, name)), { recursive: true });
      writeFileSync(join(system, name), text);
    }
    return findSandboxFix(root, system);
  }
  const RESTRICTED = { 'proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' };
  const PROGRAM = '/clone/node_modules/electron/dist/electron';

  it('needs an AppArmor profile on Ubuntu, which the user can paste', () => {
    const profile = `abi <abi/4.0>, profile vivarium-electron "${PROGRAM}" flags=(unconfined) { userns, }`;
    const file = '/etc/apparmor.d/vivarium-electron';
    expect(fixOn({ ...RESTRICTED, 'etc/apparmor.d/tunables/global': '' })).toBe(
      `  echo '${profile}' | sudo tee ${file} && sudo apparmor_parser --replace ${file}`,
    );
  });

  it.each<[what: string, files: Record<string, string>]>([
    ['nothing is restricted', { 'proc/sys/kernel/apparmor_restrict_unprivileged_userns': '0\n' }],
    ['the system has no such restriction', {}],
    ['a profile names the program', { ...RESTRICTED, 'etc/apparmor.d/own': `profile own "${PROGRAM}" { userns, }` }],
  ])('needs nothing if %s', (_what, files) => {
    expect(fixOn(files)).toBeNull();
  });

  it('needs nothing if its helper runs as root', () => {
    const root = temporaryFolder();
    const helper = join(root, 'node_modules', 'electron', 'dist', 'chrome-sandbox');
    mkdirSync(dirname(helper), { recursive: true });
    writeFileSync(helper, '');
    expect(fixOn(RESTRICTED, root)).not.toBeNull();
    chmodSync(helper, 0o4755);
    expect(fixOn(RESTRICTED, root)).toBeNull();
  });
});

describe('Electron’s runtime', () => {
  function installed(files: Record<string, string>): string {
    const root = temporaryFolder();
    const folder = join(root, 'node_modules', 'electron');
    mkdirSync(join(folder, 'dist'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return root;
  }
  const WHOLE = {
    'package.json': '{"version": "45.4.1"}',
    'path.txt': 'electron',
    'dist/version': 'v45.4.1\n',
    'dist/electron': '',
  };

  it('counts as installed when its program exists in the version of the package', () => {
    const root = installed(WHOLE);
    expect(findElectron(root)).toBe(join(root, 'node_modules', 'electron', 'dist', 'electron'));
  });

  it.each<[what: string, files: Record<string, string>]>([
    ['nothing was fetched', { 'package.json': WHOLE['package.json'] }],
    ['an older version was fetched', { ...WHOLE, 'dist/version': '44.0.0' }],
    ['its program is missing', { ...WHOLE, 'path.txt': 'Electron.app/Contents/MacOS/Electron' }],
    ['it is not installed at all', {}],
  ])('is missing when %s', (_what, files) => {
    expect(findElectron(installed(files))).toBeNull();
  });

  it('gets the same memory as plain Node', () => {
    const args = electronArguments('/clone', ['--max-semi-space-size=16'], ['--empty']);
    expect(args).toEqual(['--js-flags=--max-semi-space-size=16', '/clone', '--', '--empty']);
  });

  const ENDED = { code: 0, signal: null, elapsedMs: 300, stopped: false };

  it.each<[what: string, end: Partial<Parameters<typeof couldNotRun>[0]>, expected: boolean]>([
    ['a library is missing', { code: 127 }, true],
    ['it is for another machine', { code: 126 }, true],
    ['its sandbox cannot be set up', { code: null, signal: 'SIGTRAP' }, true],
    ['a shell in between reports it', { code: 133 }, true],
    ['its user quit', {}, false],
    ['it reported the problem itself', { code: 1 }, false],
    ['it was stopped', { code: null, signal: 'SIGTERM', stopped: true }, false],
    ['it crashed after it had run', { code: null, signal: 'SIGSEGV', elapsedMs: 3_600_000 }, false],
  ])('cannot run here when %s: %j is %s', (_what, end, expected) => {
    expect(couldNotRun({ ...ENDED, ...end })).toBe(expected);
  });
});
