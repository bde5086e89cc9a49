import { posix, win32 } from 'node:path';
import { invalidRequest } from '../../contract/errors.ts';

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
export function defaultDataDir(options: Pick<DataDirInputs, 'platform' | 'env' | 'homeDir'>): string {
  const { platform, env, homeDir } = options;
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

/**
 * The data folder of a command, absolute: from its flag, the environment, or the platform's default.
 * @throws VivariumError `invalid_request` if the default would depend on the working folder, because there is no home
 * folder
 */
export function resolveDataDir(flag: string | undefined, inputs: DataDirInputs): string {
  const chosen = chosenDataDir(flag, inputs);
  if (chosen !== null) return chosen;
  const usual = defaultDataDir(inputs);
  if ((inputs.platform === 'win32' ? win32 : posix).isAbsolute(usual)) return usual;
  throw invalidRequest(
    `HOME is ${JSON.stringify(inputs.homeDir)}, which is not an absolute path: set it, or name the data folder with --data-dir.`,
  );
}

/** The folder of a command that names none; null if the environment names one, which others may not have. */
export const impliedDataDir = (inputs: Pick<DataDirInputs, 'platform' | 'env' | 'homeDir'>): string | null =>
  inputs.env['VIVARIUM_DATA_DIR'] ? null : defaultDataDir(inputs);

/** The explicitly chosen data folder, absolute, or null if there is none. */
export function chosenDataDir(flag: string | undefined, inputs: DataDirInputs): string | null {
  const { resolve } = inputs.platform === 'win32' ? win32 : posix;
  const chosen = flag || inputs.env['VIVARIUM_DATA_DIR'];
  return chosen ? resolve(inputs.workingDir, chosen) : null;
}
