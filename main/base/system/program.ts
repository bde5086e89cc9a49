import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { internalError } from '../../contract/errors.ts';

/** Sources are three levels below the program's folder (`main/base/system`), built files two (`out/main`). */
const LEVELS_UP_MAX = 4;

/**
 * The path of a folder or file of the program: beside `main/` in the sources, two levels above the built file.
 * @throws VivariumError `internal_error` if it is missing.
 */
export function findProgramFile(...names: readonly string[]): string {
  const found = lookUp(join(...names));
  if (found !== null) return found;
  throw internalError(`Vivarium's own "${join(...names)}" is missing; install it again.`);
}

/** The path of a folder or file that not every form of the program has; null if it is missing. */
export const findOptionalProgramFile = (...names: readonly string[]): string | null => lookUp(join(...names));

/** The folder of the built interface; null if it is not built. */
export const findAssets = (): string | null => findOptionalProgramFile('out', 'renderer');

type Environment = Readonly<Record<string, string | undefined>>;

/** Lists of folders to which an AppImage's `AppRun` adds its own. */
const EXTENDED = ['PATH', 'LD_LIBRARY_PATH', 'XDG_DATA_DIRS', 'GSETTINGS_SCHEMA_DIR'] as const;

/** The environment for other programs: without the folders of an AppImage, whose libraries must not be used by them. */
export function environmentOutside(environment: Environment): Environment {
  const mount = environment['APPDIR'] ?? '';
  if (mount === '') return environment;
  const own: Record<string, string | undefined> = { ...environment };
  for (const name of EXTENDED) {
    const kept = own[name]?.split(':').filter((folder) => folder !== mount && !folder.startsWith(`${mount}/`));
    own[name] = kept?.some((folder) => folder !== '') ? kept.join(':') : undefined;
  }
  return own;
}

function lookUp(path: string): string | null {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < LEVELS_UP_MAX; level++) {
    if (existsSync(join(folder, path))) return join(folder, path);
    folder = dirname(folder);
  }
  return null;
}
