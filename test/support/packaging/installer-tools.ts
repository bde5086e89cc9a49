import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { requireTool } from '../tools.ts';

/** The compiler's own folder, of Debian's package. */
const NSIS = '/usr/share/nsis';
const TEMPLATES = join(import.meta.dirname, '..', '..', '..', 'node_modules', 'app-builder-lib', 'templates', 'nsis');

/** What makes an installer for Windows without electron-builder's downloads. */
export interface InstallerTools {
  /** For electron-builder. */
  env: Record<string, string>;
  /** What the compiler printed for each program of this kind. */
  compiled(kind: 'installer' | 'uninstaller'): string[];
}

/**
 * Debian's compiler; electron-builder's plug-ins as libraries that export their functions and have no code; scripts in
 * place of 7-Zip, and of Wine, which would run an installer for its uninstaller.
 */
export function makeInstallerTools(folder: string): InstallerTools {
  const write = (name: string, content: string | Buffer): string => {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, 0o755);
    return file;
  };
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  write(
    'nsis/linux/makensis',
    `#!/bin/sh
case "$*" in *-DBUILD_UNINSTALLER*) log='${logs}'/uninstaller-$$ ;; *) log='${logs}'/installer-$$ ;; esac
NSISDIR=${NSIS} '${requireTool('makensis')}' -V4 "$@" > "$log"
`,
  );
  for (const [plugin, functions] of foreignPlugins())
    write(`resources/plugins/x86-unicode/${plugin}.dll`, libraryOf(functions));
  write('bin/wine', '#!/bin/sh\ntouch "${1%exe}__uninstaller.exe"\n');
  const env = {
    ELECTRON_BUILDER_NSIS_DIR: join(folder, 'nsis'),
    ELECTRON_BUILDER_NSIS_RESOURCES_DIR: join(folder, 'resources'),
    ELECTRON_BUILDER_7ZIP_PATH: write(
      'bin/7za',
      '#!/bin/sh\nfor word; do case $word in *.7z) echo x > "$word" ;; esac; done\n',
    ),
    PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}`,
  };
  return {
    env,
    compiled: (kind) =>
      readdirSync(logs)
        .filter((name) => name.startsWith(kind))
        .map((name) => readFileSync(join(logs, name), 'utf8')),
  };
}

/** The plug-ins that electron-builder's templates call and the compiler lacks, with their functions. */
function foreignPlugins(): Map<string, Set<string>> {
  const own = new Set(readdirSync(join(NSIS, 'Plugins', 'x86-unicode')).map((name) => name.replace('.dll', '')));
  const found = new Map<string, Set<string>>();
  for (const name of readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' })) {
    if (!/\.nsh$|\.nsi$/.test(name)) continue;
    for (const [, plugin = '', called = ''] of readFileSync(join(TEMPLATES, name), 'utf8').matchAll(/(\w+)::(\w+)/g))
      if (!own.has(plugin)) found.set(plugin, (found.get(plugin) ?? new Set()).add(called));
  }
  return found;
}

/** A library for 32-bit Windows (PE/COFF, sections 2 to 6) with one section, which has the names that it exports. */
function libraryOf(exported: ReadonlySet<string>): Buffer {
  const [signatureAt, sectionAt, address] = [0x40, 0x200, 0x1000];
  const names = [...exported].toSorted();
  const table = 40;
  const section = Buffer.alloc(table + names.length * 10 + names.join('').length + names.length);
  let textAt = table + names.length * 10;
  section.writeUInt32LE(names.length, 20);
  section.writeUInt32LE(names.length, 24);
  for (const [at, start] of [28, 32, 36].entries())
    section.writeUInt32LE(address + table + at * 4 * names.length, start);
  for (const [index, name] of names.entries()) {
    section.writeUInt32LE(address, table + index * 4);
    section.writeUInt32LE(address + textAt, table + (names.length + index) * 4);
    section.writeUInt16LE(index, table + names.length * 8 + index * 2);
    textAt += section.write(`${name}\0`, textAt, 'latin1');
  }
  const header = Buffer.alloc(sectionAt);
  header.write('MZ');
  header.writeUInt32LE(signatureAt, 0x3c);
  header.write('PE\0\0', signatureAt);
  // COFF: i386, one section, the size of the optional header, a library of 32 bits.
  for (const [offset, value] of [
    [4, 0x14c],
    [6, 1],
    [20, 224],
    [22, 0x2102],
  ] as const)
    header.writeUInt16LE(value, signatureAt + offset);
  const optional = signatureAt + 24;
  header.writeUInt16LE(0x10b, optional);
  header.writeUInt32LE(16, optional + 92);
  header.writeUInt32LE(address, optional + 96);
  header.writeUInt32LE(section.length, optional + 100);
  const entry = optional + 224;
  header.write('.edata', entry);
  for (const [offset, value] of [
    [8, section.length],
    [12, address],
    [16, section.length],
    [20, sectionAt],
  ] as const)
    header.writeUInt32LE(value, entry + offset);
  header.writeUInt32LE(0x40000040, entry + 36);
  return Buffer.concat([header, section]);
}
