import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './error-code.ts';
import { OWNER_ONLY } from './files.ts';
import { formatLogLine, type LogLine } from './log.ts';

/** With three older files beside the current one, logs take at most 4 MiB. */
const FILE_BYTES_MAX = 1024 * 1024;
const OLDER_FILES_MAX = 3;

const LOG_FILE = 'vivarium.log';

export interface LogFile {
  write(line: LogLine): void;
  close(): void;
}

/**
 * Appends lines to `vivarium.log` in `folder`; rotates a full file to `vivarium.1.log`, and so on. Writes synchronously
 * to keep the last line before a crash. On a full disk, lines go to `otherwise`.
 */
export function openLogFile(folder: string, otherwise: (text: string) => void, bytesMax = FILE_BYTES_MAX): LogFile {
  const path = join(folder, LOG_FILE);
  let file: number | null = null;
  let bytes = 0;

  function open(): number {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const opened = openSync(path, 'a', OWNER_ONLY);
    bytes = fstatSync(opened).size;
    return opened;
  }

  function close(): void {
    if (file !== null) closeSync(file);
    file = null;
  }

  function rotate(): void {
    close();
    for (let number = OLDER_FILES_MAX - 1; number >= 1; number--) {
      moveIfThere(olderFile(folder, number), olderFile(folder, number + 1));
    }
    moveIfThere(path, olderFile(folder, 1));
  }

  return {
    write(line) {
      const text = `${formatLogLine(line)}\n`;
      try {
        file ??= open();
        if (bytes > 0 && bytes + Buffer.byteLength(text) > bytesMax) {
          rotate();
          file = open();
        }
        bytes += writeSync(file, text);
      } catch {
        otherwise(text);
      }
    },
    close,
  };
}

const olderFile = (folder: string, number: number): string => join(folder, `vivarium.${number}.log`);

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** The files that `openLogFile` writes, the oldest first; not all of them exist. */
export const logFiles = (folder: string): string[] => [
  ...Array.from({ length: OLDER_FILES_MAX }, (_, index) => olderFile(folder, OLDER_FILES_MAX - index)),
  join(folder, LOG_FILE),
];
