import type { RecordedExchange } from '../../main/model/exchange-record.ts';
import type { createEntryIds, Entry, EntryRecord } from '../../main/traffic/entry.ts';
import { createRedactor } from '../../main/traffic/redact.ts';

/** Redacts the default secrets of a Vivarium without additional names. */
export const REDACTOR = createRedactor([]);

/** An exchange as the data plane passes it: a list of pets, answered. */
export function exchange(changes: Partial<RecordedExchange> = {}): RecordedExchange {
  return {
    authority: 'demo.vivarium.localhost:8080',
    route: { projectId: 'prj_demo', environment: 'production', target: { kind: 'api' } },
    keyId: 'key_demo',
    fault: null,
    decision: { refusal: null, rate: { limit: 60, remaining: 59, resetAtMs: 1_800_000_000_000 } },
    stage: 'target',
    scheme: 'http',
    httpVersion: '1.1',
    method: 'GET',
    target: '/v1/pets?limit=20',
    status: 200,
    startedMs: 1_000,
    durationMs: 12.3456,
    address: '127.0.0.1',
    port: 40_000,
    connection: 1,
    place: 1,
    aborted: false,
    byProxy: false,
    begun: null,
    record: capturedRecord(),
    ...changes,
  };
}

const REQUEST_FIELDS = [
  'Host',
  'demo.vivarium.localhost:8080',
  'Authorization',
  'Bearer viv_secretsecretsecretsecretsecret12',
];

const KEPT = {
  requestFields: REQUEST_FIELDS,
  requestBody: { chunks: [], bytes: 0 },
  responseBody: { chunks: ['[]'], bytes: 2 },
  frames: null,
  handedMs: 1,
  firstByteMs: 10,
};

/** Headers and bodies as the data plane passes them to the recorder. */
export const capturedRecord = (changes: Partial<NonNullable<RecordedExchange['record']>> = {}) => ({
  ...KEPT,
  responseHead: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n',
  ...changes,
});

/** The same record as the log stores it. */
export const record = (changes: Partial<EntryRecord> = {}): EntryRecord => ({
  ...KEPT,
  responseFields: ['Content-Type', 'application/json'],
  ...changes,
});

/** How entries of a run are shown: with its ids, redacted. */
export const presentationOf = (ids: ReturnType<typeof createEntryIds>, slug: string | null = 'demo') => ({
  ...{ ...ids, redactor: REDACTOR },
  slugOf: () => slug,
  titleOf: (id: string) => `${id} title`,
});

export function entry(changes: Partial<Entry & Pick<RecordedExchange, 'decision'>> = {}): Entry {
  const { number = 1, replayOf = null, record: kept = record(), ...rest } = changes;
  const { realAtMs = Date.parse('2026-11-20T09:00:00.000Z') } = changes;
  return {
    ...exchange(rest),
    record: kept,
    number,
    replayOf,
    running: false,
    atMs: Date.parse('2026-11-20T09:00:00.000Z'),
    realAtMs,
  };
}
