import { posix, win32 } from 'node:path';

/** The inputs that determine the data folder. */
export interface DataDirInputs {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  homeDir: string;
  /** The base of relative paths, absolute. */
  workingDir: string;
}

/**
 * The platform's folder for application data: `%APPDATA%` on Windows, `Application Support` on macOS, elsewhere
 * `$XDG_DATA_HOME` or `~/.local/share` (XDG Base Directory Specification 0.8, which requires ignoring a relative one).
 */
export function defaultDataDir({
  platform,
  env,
  homeDir,
}: Pick<DataDirInputs, 'platform' | 'env' | 'homeDir'>): string {
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

/** The data folder of a command, absolute: from its flag, the environment, or the platform's default. */
export function resolveDataDir(flag: string | undefined, inputs: DataDirInputs): string {
  return chosenDataDir(flag, inputs) ?? defaultDataDir(inputs);
}

/** The explicitly chosen data folder, absolute, or null if there is none. */
export function chosenDataDir(flag: string | undefined, inputs: DataDirInputs): string | null {
  const { resolve } = inputs.platform === 'win32' ? win32 : posix;
  const chosen = flag || inputs.env['VIVARIUM_DATA_DIR'];
  return chosen ? resolve(inputs.workingDir, chosen) : null;
}
