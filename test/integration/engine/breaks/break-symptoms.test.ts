import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { API_ENTRIES } from '../../../../main/breaks/catalogue/api.ts';
import { CONNECTION_ENTRIES } from '../../../../main/breaks/catalogue/connection.ts';
import { HTTP_ENTRIES } from '../../../../main/breaks/catalogue/http.ts';
import type { BreakEntry } from '../../../../main/contract/breaks.ts';
import { ask, clientsHere, type ClientJob, type Seen } from '../../../support/breaks/break-clients.ts';
import { startEngine } from '../../../support/engine.ts';

const ENTRIES = [...CONNECTION_ENTRIES, ...HTTP_ENTRIES, ...API_ENTRIES].filter(
  ({ impossible }) => impossible === undefined,
);
const TIMEOUT_MS = 20_000;
/** The timeout for an answer that never comes. */
const SHORT_MS = 500;

/** Shortens the waits; the clients parse every body. */
const PARAMETERS: Readonly<Record<string, Record<string, number | string>>> = {
  'http.latency': { delayMs: 20 },
  'http.status': { body: '{}' },
  'connection.slow-close': { delayMs: 20 },
  'connection.slicer': { delayMs: 0 },
  'connection.bandwidth': { bytesPerSecond: 10_000 },
};

/** Go repeats a refused stream for as long as it may. */
const isEndless = (client: string, { id }: BreakEntry): boolean =>
  id === 'connection.black-hole' || (client === 'go' && id === 'http.refused-stream');

/** Python speaks HTTP/1.1 only; the others send one request at a time. */
const isAsked = (client: string, entry: BreakEntry): boolean =>
  entry.id === 'http.one-stream' ? client === 'node' : client !== 'python' || !isHttp2(entry);

const isHttp2 = ({ http }: BreakEntry): boolean => http === 'HTTP/2';

/** Exact beyond 2^53. */
const BIG_ID = '9007199254740993';

/** What shows in an answer that no client treats as a failure. */
function noteOf({ id }: BreakEntry, { text }: Seen): string {
  if (text.includes('�') || text.includes('\u00c3(')) return ', a name with a wrong character';
  if (id === 'http.duplicate-json-keys' && /"id":null/.test(text)) return ', the id is null';
  if (id === 'api.int64-rounded') return text.includes(BIG_ID) ? ', exact' : ', another categoryId';
  return '';
}

const DATE = /\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g;

function symptomOf(entry: BreakEntry, seen: Seen): string {
  const { status, retryAfter, error } = seen;
  if (error === null) {
    const after = retryAfter === null ? '' : `, Retry-After: ${retryAfter}`;
    return `${status}${after}${noteOf(entry, seen)}`.replace(DATE, 'a date');
  }
  return error
    .replaceAll(/(BadStatusLine: |malformed HTTP response ).*/g, '$1…')
    .replaceAll(/[\p{Cc}\uFFFD]+/gu, '…')
    .replaceAll(/https?:\/\/[\w.-]+:\d+\/[^\s"]*/g, 'URL')
    .replaceAll(/\d+\.\d+\.\d+\.\d+:\d+/g, 'ADDRESS')
    .replaceAll(/\d+ (?=milliseconds)/g, '500 ');
}

const joined = (byFetch: string, byHttp: string): string =>
  byFetch === byHttp ? byFetch : `fetch: ${byFetch}; http: ${byHttp}`;

it('clients report what the catalogue says', async () => {
  const { app, call } = await startEngine();
  const { http, https, caFile } = app.runtime;
  const make = async (slug: string) => await call('projects.create', { name: slug, slug, plan: 'pro' });
  const [project] = await Promise.all([make('symptoms'), make('reset')]);
  await call('pets.create', { projectId: project.id, name: 'Ada', categoryId: BIG_ID });
  await call('pets.create', { projectId: project.id, name: 'Bo', categoryId: '2' });
  await call('pets.create', { projectId: project.id, name: 'Cy', categoryId: '3' });

  const secrets = new Map<string, string>();
  for (const entry of ENTRIES) {
    const { id, secret } = await call('keys.create', { projectId: project.id, name: entry.id });
    secrets.set(entry.id, secret);
    await call('breaks.start', {
      entry: entry.id,
      on: entry.selectors.includes('keyId') ? { keyId: id } : { hostname: 'reset.vivarium.localhost' },
      parameters: PARAMETERS[entry.id] ?? {},
    });
  }

  const jobOf = (client: string, entry: BreakEntry, way: ClientJob['way']): ClientJob => {
    const name = entry.selectors.includes('keyId') ? 'symptoms' : 'reset';
    const hostname = `${name}${entry.environment === 'staging' ? '-staging' : ''}.vivarium.localhost`;
    return {
      url: `${way === 'http2' ? `https://${hostname}:${https.port}` : `http://${hostname}:${http.port}`}/v1/pets?limit=2`,
      headers: { authorization: `Bearer ${secrets.get(entry.id)}` },
      timeoutMs: isEndless(client, entry) ? SHORT_MS : TIMEOUT_MS,
      way,
      twice: entry.id === 'http.one-stream',
    };
  };
  const jobsFor = (client: string): ClientJob[] =>
    ENTRIES.flatMap((entry) => {
      if (!isAsked(client, entry)) return [];
      if (isHttp2(entry)) return [jobOf(client, entry, 'http2')];
      return (client === 'node' ? (['fetch', 'http'] as const) : (['http'] as const)).map((way) =>
        jobOf(client, entry, way),
      );
    });
  const seen = await ask(await clientsHere(), jobsFor, { ca: readFileSync(caFile, 'utf8'), caFile });

  const found = new Map(ENTRIES.map(({ id }) => [id, {} as Record<string, string>]));
  for (const [client, results] of seen) {
    const left = [...results];
    for (const entry of ENTRIES) {
      if (!isAsked(client, entry)) continue;
      const next = (): string => symptomOf(entry, left.shift() ?? { status: 0, retryAfter: null, text: '', error: '' });
      const symptoms = found.get(entry.id) ?? {};
      symptoms[client] = client === 'node' && !isHttp2(entry) ? joined(next(), next()) : next();
    }
  }
  if (process.env.BREAK_SYMPTOMS !== undefined)
    writeFileSync(process.env.BREAK_SYMPTOMS, JSON.stringify(Object.fromEntries(found), null, 1));
  for (const entry of ENTRIES) expect(entry.symptoms, entry.id).toMatchObject(found.get(entry.id) ?? {});
});
