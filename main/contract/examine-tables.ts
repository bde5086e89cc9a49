import { invalidRequest } from './errors.ts';
import type { ExamineRow } from './examine.ts';
import { didYouMean } from './issues.ts';

/** Which request of the runs without faults a row needs. */
export type Wants = 'any' | 'body' | 'write' | 'list' | 'hostname';

/** A row, with how it is placed and what takes its place where it cannot strike. */
export interface Row extends ExamineRow {
  wants: Wants;
  /** The only version of HTTP that the entry applies to, and the entry that does the same over the other one. */
  http?: '1.1' | '2.0' | undefined;
  twin?: string | undefined;
  /** Spares fewer than `after` where the runs without faults make no more. */
  yields?: true;
  /** For commands, whose proxy asks no DNS server: the first connections to the hostname are refused instead. */
  refusesConnections?: true | undefined;
}

const row = (name: string, entry: string, more: Partial<Row> = {}): Row => ({
  row: name,
  break: entry,
  wants: 'any',
  ...more,
});

const QUICK: readonly Row[] = [
  row('slow-answer', 'http.latency', { parameters: { delayMs: 2_000 } }),
  row('503-once', 'api.unavailable', { parameters: { seconds: 1 } }),
  row('429-twice', 'http.status', { parameters: { status: 429, header: 'Retry-After: 1' }, first: 2 }),
  row('retry-after-date', 'api.retry-after-http-date', { parameters: { seconds: 2 } }),
  row('retry-after-garbage', 'api.retry-after-garbage'),
  row('reset-mid-body', 'connection.reset-mid-body', { wants: 'body' }),
  row('empty-response', 'http.empty-response', { http: '1.1', twin: 'http.refused-stream' }),
  row('gzip-cut', 'http.gzip-cut-short', { wants: 'body' }),
  row('500-after-commit', 'api.error-after-commit', { wants: 'write' }),
  row('black-hole', 'connection.black-hole'),
  row('key-revoked', 'api.key-revoked', { wants: 'hostname', after: 3, yields: true, first: 1_000_000 }),
  row('dns-servfail', 'dns.servfail', { wants: 'hostname', refusesConnections: true }),
];

const atHostname = (name: string, entry: string): Row => row(name, entry, { wants: 'hostname' });

const FULL: readonly Row[] = [
  ...QUICK,
  atHostname('tls-expired', 'tls.expired'),
  atHostname('tls-wrong-host', 'tls.wrong-host'),
  atHostname('tls-untrusted', 'tls.untrusted-root'),
  row('http2-goaway', 'http.goaway-mid-stream', { wants: 'body', http: '2.0' }),
  row('http2-refused-stream', 'http.refused-stream', { http: '2.0' }),
  atHostname('dns-truncated', 'dns.truncated'),
  atHostname('dns-ipv6-black-hole', 'dns.ipv6-black-hole'),
  atHostname('dns-old-address', 'dns.resolvers-disagree'),
  row('cursor-repeats', 'api.cursor-repeats', { wants: 'list' }),
  row('sunset', 'api.sunset'),
];

export const TABLES: Readonly<Record<string, readonly Row[]>> = { quick: QUICK, full: FULL };

/** Entries that fit only some requests, by what the tables above know of them. */
const KNOWN = new Map(FULL.map((each) => [each.break, each]));

/** A row of a file: placed as the built-in row of the same entry. */
export function rowOfFile(given: ExamineRow): Row {
  const usual = /^(?:tls|dns|ca|domain|machine)\./.test(given.break) ? 'hostname' : 'any';
  const { wants = usual, http, twin, refusesConnections }: Partial<Row> = KNOWN.get(given.break) ?? {};
  return { ...given, wants, http, twin, refusesConnections };
}

/**
 * The rows of a table of Vivarium or, before that, of `own`.
 * @throws VivariumError `invalid_request` for a name that neither has; `more` says what else there may be
 */
export function tableNamed(name: string, more: string, own: Readonly<Record<string, readonly ExamineRow[]>> = {}) {
  if (Object.hasOwn(own, name)) return (own[name] ?? []).map(rowOfFile);
  if (Object.hasOwn(TABLES, name)) return TABLES[name] ?? [];
  const names = [...Object.keys(TABLES), ...Object.keys(own)];
  const fix = didYouMean(name, names) || ` There are ${names.join(', ')}${more}.`;
  throw invalidRequest(`There is no table "${name}".${fix}`);
}

export const nameOf = ({ row: name, break: entry }: ExamineRow): string => name ?? entry;

/** The family of its entry: `api` of `api.unavailable`. */
export const familyOf = ({ break: entry }: ExamineRow): string => entry.slice(0, entry.indexOf('.'));
