import { VivariumError } from '../contract/errors.ts';
import type { Clock } from './clock.ts';
import { printable } from './terminal.ts';

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
      write({ at: new Date(clock.now()).toISOString(), level: lineLevel, message, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * `VIVARIUM_LOG=debug|info|warn|error`.
 * @throws VivariumError `invalid_request`, naming the levels.
 */
export function readLogLevel(env: Readonly<Record<string, string | undefined>>, otherwise: LogLevel): LogLevel {
  const wanted = env['VIVARIUM_LOG'];
  if (wanted === undefined || wanted === '') return otherwise;
  const level = LOG_LEVELS.find((candidate) => candidate === wanted.toLowerCase());
  if (level !== undefined) return level;
  throw new VivariumError(
    'invalid_request',
    `VIVARIUM_LOG is "${wanted}"; it must be one of ${LOG_LEVELS.join(', ')}.`,
  );
}

/** Formats a line for a log file or terminal: time, level, message, then fields as `name=value`. */
export function formatLogLine(line: LogLine): string {
  const fields = Object.entries(line.fields).map(([name, value]) => ` ${name}=${formatField(value)}`);
  return printable(`${line.at} ${line.level.padEnd(5)} ${line.message}${fields.join('')}`);
}

function formatField(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.stack ?? value.message);
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'undefined');
}
