import { posix, win32 } from 'node:path';

/** What the data folder is chosen by. */
export interface Place {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** The user's own folder, absolute. */
  homeDir: string;
  /** The folder that relative paths start from, absolute. */
  workingDir: string;
}

/**
 * The platform's folder for an application's data: `%APPDATA%` on Windows, `Application Support` on macOS, and elsewhere
 * `$XDG_DATA_HOME` or `~/.local/share` (XDG Base Directory Specification 0.8, which says to pass over a relative one).
 */
export function defaultDataDir({ platform, env, homeDir }: Pick<Place, 'platform' | 'env' | 'homeDir'>): string {
  switch (platform) {
    case 'win32':
      return win32.join(env['APPDATA'] || win32.join(homeDir, 'AppData', 'Roaming'), 'Vivarium');
    case 'darwin':
      return posix.join(homeDir, 'Library', 'Application Support', 'Vivarium');
    default: {
      const data = env['XDG_DATA_HOME'] ?? '';
      return posix.join(posix.isAbsolute(data) ? data : posix.join(homeDir, '.local', 'share'), 'vivarium');
    }
  }
}

/** The data folder that a command means, absolute: what its flag says, or the environment, or the platform's. */
export function resolveDataDir(flag: string | undefined, place: Place): string {
  return chosenDataDir(flag, place) ?? defaultDataDir(place);
}

/** The data folder that was asked for, absolute, or null where none was. */
export function chosenDataDir(flag: string | undefined, place: Place): string | null {
  const { resolve } = place.platform === 'win32' ? win32 : posix;
  const chosen = flag || place.env['VIVARIUM_DATA_DIR'];
  return chosen ? resolve(place.workingDir, chosen) : null;
}
