import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { writeFileAtomically } from '../../base/system/files.ts';
import type { Log } from '../../base/log.ts';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { unavailable, type VivariumError } from '../../contract/errors.ts';

const FOLDER_MODE = 0o700;

/** Windows uses access lists, which protect folders in the user's profile by default. */
const HAS_MODES = process.platform !== 'win32';

/** Creates `directory` for its owner only, or removes others' access to it. */
export function openFolder(directory: string, log: Log): void {
  try {
    mkdirSync(directory, { recursive: true, mode: FOLDER_MODE });
    const { mode } = statSync(directory);
    if (!isTooOpen(mode, FOLDER_MODE)) return;
    chmodSync(directory, FOLDER_MODE);
    warnOfMode(log, directory, mode, FOLDER_MODE);
  } catch (error) {
    throw fileError(`The folder ${directory} cannot be used`, error, 'Use a folder that your user owns');
  }
}

export interface ReadOptions {
  /** The widest allowed mode; further permissions are removed before the file is read. */
  mode: number;
  bytesMax: number;
  log: Log;
}

/**
 * The text of a file, or null if missing. @throws VivariumError unavailable when it cannot be read, is too large, or
 * its mode cannot be tightened.
 */
export const readOwnFile = (path: string, options: ReadOptions): string | null =>
  readOwnBytes(path, options)?.toString('utf8') ?? null;

/** The same for binary files. */
export function readOwnBytes(path: string, { mode, bytesMax, log }: ReadOptions): Buffer | null {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    const found = fstatSync(file);
    if (found.size > bytesMax) throw new Error(`it has ${found.size} bytes, more than ${bytesMax}`);
    if (found.isFile() && isTooOpen(found.mode, mode)) {
      fchmodSync(file, mode);
      warnOfMode(log, path, found.mode, mode);
    }
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw fileError(`${path} cannot be read`, error, 'Use a file that your user owns and may read');
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Creates a file atomically and with its final mode; never overwrites one. @throws VivariumError unavailable */
export function createFile(path: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    writeFileAtomically(temporary, content, mode);
    publishFile(temporary, path);
  } catch (error) {
    throw fileError(`${path} cannot be written`, error, 'Use a folder that your user owns, on a disk with free space');
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Replaces a file atomically; `refusal` continues "could not be". @throws VivariumError unavailable */
export function replaceFile(path: string, content: string | Uint8Array, mode: number, refusal: string): void {
  try {
    writeFileAtomically(path, content, mode);
  } catch (cause) {
    throw unavailable(`${path} could not be ${refusal}.`, { cause });
  }
}

/**
 * A hard link fails if the name exists. A rename would replace it, and is the fallback for file systems without links.
 */
function publishFile(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || existsSync(path)) throw error;
    renameSync(temporary, path);
  }
}

const isTooOpen = (mode: number, widest: number): boolean => HAS_MODES && (mode & 0o777 & ~widest) !== 0;

function warnOfMode(log: Log, path: string, found: number, now: number): void {
  const text = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0');
  log.warn('A file of the root was open to others; its mode has been tightened.', {
    path,
    found: text(found),
    now: text(now),
  });
}

const fileError = (what: string, cause: unknown, fix: string): VivariumError =>
  unavailable(`${what} (${reasonOf(cause)}). ${fix}, or choose another data folder.`, { cause });
