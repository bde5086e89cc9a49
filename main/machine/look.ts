import { accessSync, constants, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { orElse } from '../contract/errors.ts';
import { codeOf } from '../base/error-code.ts';
import type { Look } from './change.ts';

/** Reads the machine. @param root a folder in place of the system's root, in tests; empty for the system's */
export function lookAt(root: string): Look {
  return {
    has: (path) => isThere(root + path),
    at(wanted) {
      const path = realPath(root, wanted);
      const missingFolders: string[] = [];
      let folder = dirname(path);
      while (folder !== dirname(folder) && !isThere(root + folder)) {
        missingFolders.unshift(folder);
        folder = dirname(folder);
      }
      const text = readText(root + path);
      return {
        text,
        path,
        missingFolders,
        readOnly:
          path.startsWith('/nix/store/') || isReadOnly(root + (text === null ? folder : path)) || isLink(root + path),
      };
    },
  };
}

/** Reads a file as Latin-1; null if it is not a readable file. */
export const readText = (path: string): string | null => orElse(() => readFileSync(path, 'latin1'), null);

export const isThere = (path: string): boolean => orElse(() => Boolean(lstatSync(path)), false);

function realPath(root: string, path: string): string {
  try {
    const real = realpathSync(root + path);
    return root !== '' && real.startsWith(`${root}/`) ? real.slice(root.length) : real;
  } catch {
    return path;
  }
}

/** Whether this user may replace or create the file. */
export function mayWrite(path: string): boolean {
  try {
    for (const place of isThere(path) ? [dirname(path), path] : [dirname(path)]) accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether the path is a dangling link; the real path of other links contains none. */
const isLink = (path: string): boolean => orElse(() => lstatSync(path).isSymbolicLink(), false);

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return codeOf(error) === 'EROFS';
  }
}
