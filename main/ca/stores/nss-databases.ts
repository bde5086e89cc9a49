import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, basename, isAbsolute, resolve } from 'node:path';
import { readSmall } from './truststore.ts';
import { NSS_CERTIFICATES_FILE, type NssDatabase } from './truststore-nss.ts';

export interface NssOptions {
  platform: NodeJS.Platform;
  home: string;
  environment: NodeJS.ProcessEnv;
}

/** All NSS databases of the user in a fixed order, without those of missing browsers. */
export function nssDatabases(options: NssOptions): NssDatabase[] {
  const chromium = options.platform === 'linux' ? chromiumDatabases(options) : [];
  return [...chromium, ...firefoxDatabases(options)];
}

/** The Firefox profile that was used last; null without one. */
export function lastFirefoxProfile(options: NssOptions): string | null {
  const used = nssDatabases(options)
    .filter(({ browser, folder }) => browser === 'Firefox' && existsSync(join(folder, 'prefs.js')))
    .map(({ folder }) => ({ folder, atMs: statSync(join(folder, 'prefs.js')).mtimeMs }));
  return used.sort((one, other) => other.atMs - one.atMs)[0]?.folder ?? null;
}

const hasDatabase = (folder: string): boolean => existsSync(join(folder, NSS_CERTIFICATES_FILE));

/** Chromium and Chrome use NSS on Linux only. */
function chromiumDatabases({ home, environment }: NssOptions): NssDatabase[] {
  const browser = 'Chromium';
  const classic = join(home, '.pki/nssdb');
  // Newer versions create their database here, unless the older one exists. Listed in both cases, to find roots added
  // before the other appeared.
  const xdg = join(absolute(environment.XDG_DATA_HOME) ?? join(home, '.local/share'), 'pki/nssdb');
  const [first, second] = hasDatabase(xdg) && !hasDatabase(classic) ? [xdg] : [classic, xdg];
  const others = [
    ['nss:user-data', 'Chromium and Chrome, while ~/.pki/nssdb does not exist', second],
    ['nss:snap-chromium', 'Chromium from the snap store', join(home, 'snap/chromium/current/.pki/nssdb')],
    ['nss:flatpak-chromium', 'Chromium from Flathub', join(home, '.var/app/org.chromium.Chromium/.pki/nssdb')],
    ['nss:flatpak-chrome', 'Chrome from Flathub', join(home, '.var/app/com.google.Chrome/.pki/nssdb')],
  ] as const;
  return [
    { id: 'nss:user', title: 'Chromium and Chrome', folder: first ?? classic, browser },
    ...others
      .filter(([, , folder]) => folder !== undefined && hasDatabase(folder))
      .map(([id, title, folder = '']) => ({ id, title, folder, browser })),
  ];
}

function firefoxDatabases(options: NssOptions): NssDatabase[] {
  const browser = 'Firefox';
  const taken = new Set<string>();
  return firefoxFolders(options).flatMap(({ kind, from, folder }) => {
    if (!existsSync(folder)) return [];
    const profiles = firefoxProfiles(folder);
    if (profiles.length === 0) {
      return [{ id: `nss:${kind}`, title: `Firefox${from}`, folder, browser, isEmpty: true }];
    }
    return profiles.map((profile) => {
      const short = `nss:${kind}:${profile.name}`;
      const id = taken.has(short) ? `nss:${kind}:${profile.folder}` : short;
      taken.add(id);
      return { id, title: `Firefox${from}, profile "${profile.name}"`, folder: profile.folder, browser };
    });
  });
}

interface FirefoxFolder {
  kind: string;
  from: string;
  folder: string;
}

/** The folder of Firefox's `profiles.ini`, by system and packaging. */
function firefoxFolders({ platform, home, environment }: NssOptions): FirefoxFolder[] {
  const firefox = (folder: string): FirefoxFolder => ({ kind: 'firefox', from: '', folder });
  if (platform === 'darwin') return [firefox(join(home, 'Library/Application Support/Firefox'))];
  if (platform === 'win32') {
    const roaming = environment.APPDATA ?? join(home, 'AppData/Roaming');
    return [firefox(join(roaming, 'Mozilla/Firefox'))];
  }
  const config = absolute(environment.XDG_CONFIG_HOME) ?? join(home, '.config');
  return [
    firefox(join(home, '.mozilla/firefox')),
    { kind: 'firefox-config', from: '', folder: join(config, 'mozilla/firefox') },
    { kind: 'firefox-snap', from: ' from the snap store', folder: join(home, 'snap/firefox/common/.mozilla/firefox') },
    {
      kind: 'firefox-flatpak',
      from: ' from Flathub',
      folder: join(home, '.var/app/org.mozilla.firefox/.mozilla/firefox'),
    },
  ];
}

/** The XDG base directory specification ignores relative paths. */
const absolute = (path: string | undefined): string | undefined => (path?.startsWith('/') === true ? path : undefined);

/** Maximum profiles; reading each one starts a process. */
const PROFILES_MAX = 50;

/** A profiles.ini with the maximum number of profiles takes 10 kB. */
const INI_BYTES_MAX = 1_048_576;

/**
 * The profiles with a certificate database: those in `profiles.ini`, and unlisted ones in the default folder. Firefox
 * makes the names of their folders unique: `x1y2z3.default-release`.
 */
export function firefoxProfiles(root: string): { name: string; folder: string }[] {
  const folders = [
    ...listed(join(root, 'profiles.ini'), root),
    ...subfolders(root),
    ...subfolders(join(root, 'Profiles')),
  ];
  const used = [...new Set(folders)].filter((folder) => existsSync(join(folder, NSS_CERTIFICATES_FILE)));
  return used.slice(0, PROFILES_MAX).map((folder) => ({ name: basename(folder), folder }));
}

/** `[Profile…]` sections with `Path`, relative to the file's folder unless `IsRelative=0`. */
function listed(file: string, root: string): string[] {
  return sections(readSmall(file, INI_BYTES_MAX).replace(/^\uFEFF/, '')).flatMap(({ name, values }) => {
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

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name));
  } catch {
    return [];
  }
}
