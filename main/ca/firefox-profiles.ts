import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { NSS_CERTIFICATES_FILE } from './truststore-nss.ts';

/** More profiles than anybody keeps; each costs a program at every look. */
const PROFILES_MAX = 50;

/** A profiles.ini of that many profiles takes 10 kB. */
const INI_BYTES_MAX = 1_048_576;

export interface FirefoxProfile {
  /** The profile folder's name, which Firefox makes unique: `x1y2z3.default-release`. */
  name: string;
  folder: string;
}

/** The profiles with a certificate database: those of `profiles.ini`, wherever they are, and those that just lie there. */
export function firefoxProfiles(root: string): FirefoxProfile[] {
  const folders = [...listed(join(root, 'profiles.ini'), root), ...lying(root), ...lying(join(root, 'Profiles'))];
  const used = [...new Set(folders)].filter((folder) => existsSync(join(folder, NSS_CERTIFICATES_FILE)));
  return used.slice(0, PROFILES_MAX).map((folder) => ({ name: basename(folder), folder }));
}

/** `[Profile…]` sections with `Path`, relative to the file's folder unless `IsRelative=0`. */
function listed(file: string, root: string): string[] {
  return sections(readSmall(file)).flatMap(({ name, values }) => {
    const path = values.get('Path');
    if (!/^Profile\d+$/i.test(name) || path === undefined || path === '') return [];
    if (values.get('IsRelative') === '0') return isAbsolute(path) ? [resolve(path)] : [];
    return [resolve(root, path)];
  });
}

function sections(ini: string): { name: string; values: Map<string, string> }[] {
  const found: { name: string; values: Map<string, string> }[] = [];
  for (const line of ini.split(/\r?\n/)) {
    const header = /^\s*\[(.+)\]\s*$/.exec(line);
    if (header !== null) found.push({ name: header[1] ?? '', values: new Map() });
    const equals = line.indexOf('=');
    if (header === null && equals > 0)
      found.at(-1)?.values.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
  }
  return found;
}

function lying(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name));
  } catch {
    return [];
  }
}

function readSmall(file: string): string {
  try {
    return statSync(file).size > INI_BYTES_MAX ? '' : readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch {
    return '';
  }
}
