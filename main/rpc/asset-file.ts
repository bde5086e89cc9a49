import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Files are sent from memory; a built interface has none of this size. */
const ASSET_BYTES_MAX = 16 * 1024 * 1024;

const ABSENT_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP'];

/** A regular file inside `folder`, also after following links; null when there is none. */
export async function readAsset(folder: string, segments: readonly string[]): Promise<Buffer<ArrayBuffer> | null> {
  try {
    const root = await realpath(folder);
    const path = await realpath(join(root, ...segments));
    if (!path.startsWith(root + sep)) return null;
    // By path, not by descriptor: those work in Electron's archives too.
    const found = await stat(path);
    return found.isFile() && found.size <= ASSET_BYTES_MAX ? await readFile(path) : null;
  } catch (error) {
    if (ABSENT_CODES.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
