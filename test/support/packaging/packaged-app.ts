import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ELECTRON } from '../desktop/desktop-on-stand-in.ts';
import { execute } from '../command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Where Electron keeps its fuses: after these bytes, a version, their number, and one character for each. */
const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';

/** The file that contains them on macOS, within the app's bundle. */
export const FRAMEWORK = join('Frameworks', 'Electron Framework.framework', 'Electron Framework');

/** In the order of Electron's fuses, version 1; `1` is on. */
const FUSES = [
  ...['runAsNode', 'cookieEncryption', 'nodeOptions', 'nodeCliInspect', 'embeddedAsarIntegrity'],
  ...['onlyLoadAppFromAsar', 'browserProcessSpecificV8Snapshot', 'grantFileProtocolExtraPrivileges'],
  'wasmTrapHandlers',
] as const;

/**
 * A folder that looks like an unpacked Electron for Linux. Its program is a shell script with Electron's default fuses
 * appended; it runs the app in `extracted/app.asar` beside it on the stand-in.
 */
export function makeStandInDistribution(folder: string): void {
  for (const name of ['resources', 'locales']) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'chrome-sandbox', join('locales', 'en-US.pak')]) {
    writeFileSync(join(folder, name), name);
  }
  const script = [
    '#!/bin/sh',
    'here=$(dirname -- "$0")',
    `ELECTRON_STAND_IN_NODE="${process.execPath}" exec "${ELECTRON}" "$here/extracted/app.asar/out/main/desktop.js" "$@"`,
    'exit',
    '',
  ].join('\n');
  writeFileSync(join(folder, 'electron'), Buffer.concat([Buffer.from(script), shippedFuses()]));
  chmodSync(join(folder, 'electron'), 0o755);
}

/** Imitates an unpacked Electron for macOS: a bundle with fuses in its framework, without executables. */
export function makeStandInBundle(folder: string): void {
  for (const name of ['LICENSE', 'LICENSES.chromium.html']) write(join(folder, name), name);
  const contents = join(folder, 'Electron.app', 'Contents');
  makeBundle(contents, 'Electron');
  for (const suffix of ['', ' (GPU)', ' (Plugin)', ' (Renderer)']) {
    const name = `Electron Helper${suffix}`;
    makeBundle(join(contents, 'Frameworks', `${name}.app`, 'Contents'), name);
  }
  write(join(contents, FRAMEWORK), shippedFuses());
  write(join(contents, 'Resources', 'electron.icns'), '');
}

/** A small program for Windows, whose resources can be changed. */
const WINDOWS_PROGRAM = join(ROOT, 'node_modules', 'electron-winstaller', 'vendor', 'rcedit.exe');

/** Imitates an unpacked Electron for Windows: another program, with fuses at its end. */
export function makeStandInForWindows(folder: string): void {
  for (const name of ['LICENSE', 'LICENSES.chromium.html']) write(join(folder, name), name);
  for (const name of ['resources', 'locales']) mkdirSync(join(folder, name), { recursive: true });
  write(join(folder, 'electron.exe'), Buffer.concat([readFileSync(WINDOWS_PROGRAM), shippedFuses()]));
}

function makeBundle(contents: string, name: string): void {
  write(join(contents, 'MacOS', name), name);
  write(
    join(contents, 'Info.plist'),
    `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>CFBundleExecutable</key><string>${name}</string></dict></plist>`,
  );
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** As Electron ships them. */
const shippedFuses = (): Buffer =>
  Buffer.concat([
    Buffer.from(FUSE_SENTINEL, 'latin1'),
    Buffer.from([1, FUSES.length]),
    Buffer.from('101100011', 'latin1'),
  ]);

export function readFuses(program: string): string[] {
  const content = readFileSync(program);
  const at = content.indexOf(FUSE_SENTINEL, 0, 'latin1') + FUSE_SENTINEL.length + 2;
  return FUSES.filter((_name, index) => content.toString('latin1', at + index, at + index + 1) === '1');
}

/** Packages the app as `npm run package` does, without network access; into `output`. */
export async function packageApp(options: {
  distribution: string;
  output: string;
  /** What to package, beginning with the system. */
  targets: readonly string[];
  env?: Record<string, string>;
}): Promise<void> {
  const { distribution, output, targets, env } = options;
  const packager = join(ROOT, 'node_modules', 'electron-builder', 'cli.js');
  const settings = [`-c.electronDist=${distribution}`, `-c.directories.output=${output}`, '--publish', 'never'];
  await execute(process.execPath, [packager, ...targets, ...settings], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
}
