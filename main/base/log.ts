import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { invalidRequest, orElse } from '../contract/errors.ts';
import type { Clock } from './clock.ts';
import { codeOf } from './error-code.ts';
import { OWNER_ONLY } from './system/files.ts';
import { printable } from './text/terminal.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Record<string, unknown>;

/** Structured log: a constant message, with variable values as fields. Secrets are never logged. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LogLine {
  at: string;
  level: LogLevel;
  message: string;
  fields: LogFields;
}

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A log that passes lines to `write`. Lines carry the app's time. Errors in fields keep their stack. */
export function createLog(clock: Pick<Clock, 'now'>, write: (line: LogLine) => void, level: LogLevel = 'info'): Log {
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (ORDER[lineLevel] < ORDER[level]) return;
      write({ at: momentText(clock.now()), level: lineLevel, message, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The log also describes a clock that shows no date. */
const momentText = (atMs: number): string =>
  Number.isFinite(atMs) && Math.abs(atMs) <= DATE_MS_MAX ? new Date(atMs).toISOString() : `${atMs} ms`;

/** ECMA-262, section 21.4.1.1: the last moment that a Date can represent. */
const DATE_MS_MAX = 8.64e15;

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** `VIVARIUM_LOG=debug|info|warn|error`. @throws VivariumError `invalid_request`, naming the levels. */
export function readLogLevel(env: Readonly<Record<string, string | undefined>>, otherwise: LogLevel): LogLevel {
  const wanted = env['VIVARIUM_LOG'];
  if (wanted === undefined || wanted === '') return otherwise;
  const level = LOG_LEVELS.find((candidate) => candidate === wanted.toLowerCase());
  if (level !== undefined) return level;
  throw invalidRequest(`VIVARIUM_LOG is "${wanted}"; it must be one of ${LOG_LEVELS.join(', ')}.`);
}

/** Formats a line for a log file or terminal: time, level, message, then fields as `name=value`. */
export function formatLogLine(line: LogLine): string {
  const fields = Object.entries(line.fields).map(([name, value]) => ` ${name}=${formatField(value)}`);
  return printable(`${line.at} ${line.level.padEnd(5)} ${line.message}${fields.join('')}`);
}

/** Never throws: the value may refer to itself, or have members that throw. */
function formatField(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  const withBigints = (_name: string, member: unknown) => (typeof member === 'bigint' ? String(member) : member);
  const shown = () => (value instanceof Error ? (value.stack ?? value.message) : value);
  return orElse(() => JSON.stringify(shown(), withBigints) ?? 'undefined', '(unreadable)');
}

/** With three older files beside the current one, logs take at most 4 MiB. */
const FILE_BYTES_MAX = 1024 * 1024;
const OLDER_FILES_MAX = 3;

const LOG_FILE = 'vivarium.log';

/**
 * Appends lines to `vivarium.log` in `folder`; rotates a full file to `vivarium.1.log`, and so on. Writes synchronously
 * to keep the last line before a crash. On a full disk, lines go to `otherwise`.
 */
export function openLogFile(folder: string, otherwise: (text: string) => void, bytesMax = FILE_BYTES_MAX) {
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
    write(line: LogLine): void {
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
