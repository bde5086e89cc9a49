import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { extractAll, listPackage } from '@electron/asar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM_FLAGS } from '../../../main/cli/node-version.mjs';
import { STAND_IN } from '../../support/desktop/desktop.ts';
import { track } from '../../support/engine.ts';
import { type InstallerTools, makeInstallerTools } from '../../support/packaging/installer-tools.ts';
import {
  FRAMEWORK,
  makeStandInBundle,
  makeStandInDistribution,
  makeStandInForWindows,
  packageApp,
  readFuses,
} from '../../support/packaging/packaged-app.ts';
import { FREE_PORTS, startProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execute as run } from '../../support/command.ts';

/** Neither plain Node, nor debugging from outside, nor foreign code. */
const FUSES_ON = ['embeddedAsarIntegrity', 'onlyLoadAppFromAsar', 'wasmTrapHandlers'];

/** The package without Electron, as installed. */
const INSTALLED_BYTES_MAX = 25 * 1000 * 1000;

/** Packaging searches node_modules and writes archives. */
const PACKAGING_MS_MAX = 180_000;

const ROOT = join(import.meta.dirname, '..', '..', '..');

const bytesOf = (path: string): number =>
  statSync(path).isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
    : statSync(path).size;

// electron-builder makes packages for Linux on Linux and macOS; the program in them is a shell script here.
describe.runIf(process.platform === 'linux')('the package', () => {
  let folder: string;
  /** The app as installed, for this machine's processor. */
  let app: string;
  let resources: string;
  /** What is in the archive, at a path like the archive's. */
  let archived: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vivarium-package-'));
    const fpm = join(folder, 'bin', 'fpm');
    makeStandInDistribution(join(folder, 'electron'));
    mkdirSync(join(folder, 'bin'));
    // Replaces the packaging program, which not every machine has: keeps its arguments, and the scripts.
    writeFileSync(
      fpm,
      `#!/bin/sh
format=$5
printf '%s\\n' "$@" > "${folder}/fpm-$format"
while [ $# -gt 0 ]; do
  case $1 in
  --after-*) cp "$2" "${folder}/fpm-$format$1" ;;
  *.desktop=*) cp "\${1%%=*}" "${folder}/desktop-entry" ;;
  esac
  shift
done
`,
      { mode: 0o755 },
    );
    await packageApp({
      distribution: join(folder, 'electron'),
      output: join(folder, 'dist'),
      targets: ['--linux', 'dir', 'deb', 'rpm', '--x64', '--arm64'],
      env: { USE_SYSTEM_FPM: 'true', PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}` },
    });
    app = join(folder, 'dist', process.arch === 'arm64' ? 'linux-arm64-unpacked' : 'linux-unpacked');
    resources = join(app, 'resources');
    archived = join(app, 'extracted', 'app.asar');
    extractAll(join(resources, 'app.asar'), archived);
    symlinkSync(join(resources, 'app.asar.unpacked'), `${archived}.unpacked`);
  }, PACKAGING_MS_MAX);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is small', () => {
    const bytes = bytesOf(join(resources, 'app.asar')) + bytesOf(join(resources, 'app.asar.unpacked'));
    expect(bytes).toBeLessThan(INSTALLED_BYTES_MAX);
  });

  it('contains what runs, but no sources', () => {
    const files = listPackage(join(resources, 'app.asar'), { isPack: false });
    for (const needed of [
      ...['/out/main/desktop.js', '/out/main/vivarium.js', '/out/preload/preload.cjs'],
      ...['/out/renderer/index.html', '/resources/demo/pets.json', '/resources/pages/page.html'],
      ...['/resources/icons/tray.png', '/package.json', '/LICENSE'],
    ]) {
      expect(files).toContain(needed);
    }
    const packaged = readFileSync(join(archived, 'package.json'), 'utf8');
    const { main, bin, exports, files: published } = JSON.parse(packaged) as Record<string, unknown>;
    expect({ main, bin, exports, published }).toEqual({
      main: 'out/main/desktop.js',
      bin: null,
      exports: null,
      published: null,
    });
    const tops = new Set(files.map((file) => file.split('/')[1]));
    expect([...tops].sort()).toEqual(['LICENSE', 'node_modules', 'out', 'package.json', 'resources']);
    expect(files.filter((file) => /\.(ts|svelte|map|md)$|\/\.[^/]+$|\.test\./.test(file))).toEqual([]);
    const packages = files.filter((file) => /^\/node_modules\/[^/]+$/.test(file));
    expect(packages).toEqual(['/node_modules/better-sqlite3']);
  });

  it.each([
    ['linux-unpacked', 'linux-x64.node'],
    ['linux-arm64-unpacked', 'linux-arm64.node'],
  ])('for %s contains the database only for its processor, outside the archive', (name, binary) => {
    const unpacked = join(folder, 'dist', name, 'resources', 'app.asar.unpacked');
    const binaries = readdirSync(unpacked, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.node'),
    );
    expect(binaries).toEqual([join('node_modules', 'better-sqlite3', 'prebuilds', binary)]);
  });

  it('cannot be run as plain Node, be debugged from outside, or be given foreign code', () => {
    expect(readFuses(join(app, 'vivarium-desktop'))).toEqual(FUSES_ON);
  });

  const argumentsFor = (format: string): string[] => readFileSync(join(folder, `fpm-${format}`), 'utf8').split('\n');

  it.each(['deb', 'rpm'])(
    'as %s installs the command on the PATH, and a desktop entry under the app’s own id',
    (format) => {
      const asked = argumentsFor(format);
      expect(asked).toContain('resources/bin/vivarium=/usr/bin/vivarium');
      expect(
        asked.filter((argument) => argument.endsWith('/usr/share/applications/localhost.vivarium.app.desktop')),
      ).toHaveLength(1);
      expect(asked.filter((argument) => argument.includes('=/usr/share/icons/hicolor/'))).toHaveLength(8);
    },
  );

  it.each([
    ['deb', ['libc6 (>= 2.34)', 'libgbm1', 'libgtk-3-0t64 | libgtk-3-0', 'libasound2t64 | libasound2']],
    ['rpm', ['libc.so.6(GLIBC_2.34)(64bit)', 'libgbm.so.1()(64bit)', 'libgtk-3.so.0()(64bit)']],
  ])('as %s depends on what its programs need, under the names of each release', (format, needed) => {
    const asked = argumentsFor(format);
    expect(asked.filter((_argument, index) => asked[index - 1] === '-d')).toEqual(expect.arrayContaining(needed));
  });

  it.each(['deb', 'rpm'])('as %s contains its own scripts, and names its maker', (format) => {
    const asked = argumentsFor(format);
    const after = (option: string) => asked[asked.indexOf(option) + 1] ?? '';
    const scripts = ['--after-install', '--after-remove'].map((name) =>
      readFileSync(join(folder, `fpm-${format}${name}`), 'utf8'),
    );
    const calls = ['--install', '--remove'].map(
      (what) => new RegExp(`^update-alternatives ${what} .*vivarium-desktop`, 'm'),
    );
    for (const [index, call] of calls.entries()) expect(scripts[index]).toMatch(call);
    expect(scripts.join('')).not.toContain('${');
    expect(asked.filter((argument) => argument.startsWith('--before-remove='))).toHaveLength(1);
    // A release adds an address; there is none that a build of anyone could have.
    expect([after('--maintainer'), after('--vendor')]).toEqual(['The Vivarium authors', 'The Vivarium authors']);
  });

  it('starts with the first of V8’s flags for the engine, from a menu and from the command line', () => {
    const flags = `--js-flags=${PROGRAM_FLAGS[0]}`;
    expect(readFileSync(join(folder, 'desktop-entry'), 'utf8')).toContain(`/vivarium-desktop ${flags} %U\n`);
    for (const name of ['vivarium', 'vivarium.cmd'])
      expect(readFileSync(join(ROOT, 'resources', 'bin', name), 'utf8')).toContain(`--log-level=3 ${flags}`);
  });

  it.each(['deb', 'rpm'])('as %s has its licence, and what a software centre shows and finds', (format) => {
    const contents = argumentsFor(format).flatMap((argument) => {
      const [, source, target] = /^(resources\/linux\/.+)=(\/.+)$/.exec(argument) ?? [];
      return source === undefined ? [] : [[target, readFileSync(join(ROOT, source), 'utf8')] as const];
    });
    const files = Object.fromEntries(contents);
    const onOneLine = (text = '') => text.replaceAll(/^ \.$/gm, '').replaceAll(/\s+/g, ' ');
    const [, , ...licence] = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim().split('\n\n');
    expect(onOneLine(files['/usr/share/doc/vivarium/copyright'])).toContain(onOneLine(licence.join(' ')));
    const centre = files['/usr/share/metainfo/localhost.vivarium.app.metainfo.xml'];
    expect(centre).toMatch(/<id>localhost\.vivarium\.app<\/id>[^]*<project_license>MIT<[^]*<description>\s*<p>/);
    expect(centre).toContain('<launchable type="desktop-id">localhost.vivarium.app.desktop</launchable>');
    expect(readFileSync(join(folder, 'desktop-entry'), 'utf8')).toMatch(/^Keywords=API;.*;$/m);
  });

  it('serves headless in plain Node, and answers with a pet', async () => {
    const program = join(archived, 'out', 'main', 'vivarium.js');
    const { runtime, dataDir } = await startProgram([], { program });
    const { secret } = JSON.parse(readFileSync(join(dataDir, 'demo-key.json'), 'utf8')) as { secret: string };
    const { stdout } = await run('curl', [
      '-s',
      '-H',
      `Authorization: Bearer ${secret}`,
      '-H',
      `Host: demo.vivarium.localhost:${runtime.http.port}`,
      `http://127.0.0.1:${runtime.http.port}/v1/pets?limit=1`,
    ]);
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ name: expect.any(String) })]);
  });

  it('opens its window from the archive, and shows GTK an icon outside of it', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const desktop = STAND_IN.start(
      ['--', '--data-dir', dataDir, '--empty', ...FREE_PORTS],
      {},
      join(archived, 'out', 'main', 'desktop.js'),
    );
    track(async () => {
      desktop.signal('SIGKILL');
      await desktop.ended;
    });
    await (await desktop.page()).getByRole('heading', { level: 1 }).waitFor();
    const icon = await desktop.evaluate(
      ({ app: running }) => (running as unknown as { standIn: { about: { iconPath: string } } }).standIn.about.iconPath,
    );
    expect([icon.startsWith(`${archived}.unpacked/`), existsSync(icon)]).toEqual([true, true]);
  });

  it('has a command line that prints, fails and finds no Vivarium in the same way as in the sources', async () => {
    const launcher = join(resources, 'bin', 'vivarium');
    const command = (...words: string[]) =>
      run(launcher, words).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error: unknown) => error as { code: number; stdout: string; stderr: string },
      );
    expect(await command('--version')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
    expect(await command('no', 'such', 'thing')).toMatchObject({ code: 1, stdout: '' });
    expect(await command('--data-dir', temporaryFolder(), 'call', 'status.get')).toMatchObject({ code: 2, stdout: '' });
    expect(readdirSync(join(resources, 'bin'))).toEqual(['vivarium']);
  });
});

// As on macOS without a certificate; `codesign` is a script here, and the bundle has nothing that runs.
describe.runIf(process.platform === 'linux')('the bundle for macOS', () => {
  let folder: string;
  let dist: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vivarium-bundle-'));
    dist = join(folder, 'dist');
    makeStandInBundle(join(folder, 'electron'));
    mkdirSync(join(folder, 'bin'));
    const codesign = join(folder, 'bin', 'codesign');
    // It prints what it was asked to sign, and keeps a copy.
    writeFileSync(
      codesign,
      `#!/bin/sh\nfor bundle; do :; done\nprintf '%s\\n' "$@" > "$bundle.signing"\ncp "$bundle/Contents/${FRAMEWORK}" "$bundle.signed"\n`,
      { mode: 0o755 },
    );
    await packageApp({
      distribution: join(folder, 'electron'),
      output: dist,
      targets: ['--mac', 'dir', '--x64', '--arm64'],
      env: {
        CSC_IDENTITY_AUTO_DISCOVERY: 'false',
        PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}`,
      },
    });
  }, PACKAGING_MS_MAX);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['mac', 'darwin-x64.node'],
    ['mac-arm64', 'darwin-arm64.node'],
  ])('for %s is signed ad hoc after its fuses were set, because Apple silicon runs nothing else', (name, binary) => {
    const bundle = join(dist, name, 'Vivarium.app');
    const contents = join(bundle, 'Contents');
    expect(readFuses(join(contents, FRAMEWORK))).toEqual(FUSES_ON);
    expect(readFuses(`${bundle}.signed`)).toEqual(FUSES_ON);
    const signing = readFileSync(`${bundle}.signing`, 'utf8').split('\n');
    expect(signing).toEqual(expect.arrayContaining(['--sign', '-', '--force', '--deep', bundle]));
    const archive = join(contents, 'Resources', 'app.asar.unpacked');
    const unpacked = readdirSync(archive, { recursive: true, encoding: 'utf8' });
    expect(unpacked.filter((file) => file.endsWith('.node'))).toEqual([
      join('node_modules', 'better-sqlite3', 'prebuilds', binary),
    ]);
    const information = readFileSync(join(contents, 'Info.plist'), 'utf8');
    expect(information).toMatch(/<key>ElectronAsarIntegrity<\/key>\s*<dict>\s*<key>Resources\/app\.asar<\/key>/);
    expect(information).toContain('<string>localhost.vivarium.app</string>');
    expect(information).toContain('<string>Copyright © 2026 The Vivarium authors</string>');
    expect(information).toMatch(/<key>CFBundleURLSchemes<\/key>\s*<array>\s*<string>vivarium<\/string>/);
    expect(readdirSync(join(contents, 'Resources', 'bin'))).toEqual(['vivarium']);
    expect(information).toMatch(
      /<key>NSLocalNetworkUsageDescription<\/key>\s*<string>Vivarium forwards .*\.<\/string>/,
    );
    expect(information).toMatch(/<key>LSAppNapIsDisabled<\/key>\s*<true\/>/);
  });
});

// It compiles, and runs on Windows only.
describe.runIf(process.platform === 'linux')('the installer for Windows', () => {
  let folder: string;
  let tools: InstallerTools;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vivarium-windows-'));
    tools = makeInstallerTools(join(folder, 'tools'));
    makeStandInForWindows(join(folder, 'electron'));
    await packageApp({
      distribution: join(folder, 'electron'),
      output: join(folder, 'dist'),
      // Debian's compiler does not have all texts of the other languages.
      targets: ['--win', 'nsis', '--x64', '--arm64', '-c.nsis.installerLanguages=en_US'],
      env: tools.env,
    });
  }, PACKAGING_MS_MAX);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is one for each processor, with nothing for an updater', () => {
    const made = readdirSync(join(folder, 'dist')).filter((name) => name.startsWith('vivarium-'));
    expect(made.sort()).toEqual(['vivarium-0.1.0-win-arm64.exe', 'vivarium-0.1.0-win-x64.exe']);
  });

  it('installs for the user who runs it, and for nobody else', () => {
    for (const kind of ['installer', 'uninstaller'] as const)
      for (const text of tools.compiled(kind)) expect(text).toMatch(/^StrCpy \$isForceCurrentInstall "1"/m);
    for (const text of tools.compiled('installer'))
      expect(text).toMatch(
        /^MessageBox: .*"Vivarium is installed for one user: run its installer without \/allusers\."/m,
      );
  });

  it('lets a running app drain and changes the Path, which the uninstaller undoes', () => {
    const commandsOf = (kind: 'installer' | 'uninstaller') =>
      tools
        .compiled(kind)
        .map((text) => [...text.matchAll(/(?:vivarium\.cmd|path\.ps1)\S* (\w+)/g)].map(([, word]) => word));
    expect(commandsOf('installer')).toEqual(Array.from({ length: 2 }, () => ['stop', 'add']));
    expect(commandsOf('uninstaller')).toEqual(Array.from({ length: 2 }, () => ['stop', 'remove', 'uninstall']));
  });

  it('registers links behind the separator, so that none can add a switch', () => {
    for (const text of tools.compiled('installer'))
      expect(text).toContain('vivarium\\shell\\open\\command\\="$INSTDIR\\Vivarium.exe" -- "%1"');
  });

  it('ends the start at login when it is uninstalled', () => {
    const run = 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\';
    for (const text of tools.compiled('uninstaller'))
      for (const key of ['Run', 'Explorer\\StartupApproved\\Run'])
        expect(text).toContain(`DeleteRegValue: ${run}${key}\\localhost.vivarium.app`);
  });

  it.each([
    ['win-unpacked', 'win32-x64.node'],
    ['win-arm64-unpacked', 'win32-arm64.node'],
  ])('for %s has its fuses, its database, its command and a program that names its makers', (name, binary) => {
    const place = join(folder, 'dist', name);
    expect(readFuses(join(place, 'Vivarium.exe'))).toEqual(FUSES_ON);
    const resources = join(place, 'resources');
    const files = readdirSync(resources, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.node'))).toEqual([
      join('app.asar.unpacked', 'node_modules', 'better-sqlite3', 'prebuilds', binary),
    ]);
    expect(readdirSync(join(resources, 'bin'))).toEqual(['path.ps1', 'vivarium.cmd']);
    expect(files).not.toContain('elevate.exe');
    const program = readFileSync(join(place, 'Vivarium.exe'));
    const texts = ['The Vivarium authors', 'Copyright © 2026 The Vivarium authors', 'ELECTRONASAR'];
    expect(texts.filter((text) => !program.includes(text, 0, 'utf16le'))).toEqual([]);
  });
});
