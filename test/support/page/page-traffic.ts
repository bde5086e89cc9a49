import type { TrafficDetail, TrafficEntry, TrafficSummary } from '../../../main/contract/traffic.ts';

/** A traffic entry in the form that the page receives. */
export const makeEntry = (number: number, rest: Partial<TrafficEntry> = {}): TrafficEntry => ({
  id: `trf_${number}`,
  at: '2026-11-20T09:00:00.000Z',
  realAt: '2026-11-20T09:00:00.000Z',
  method: 'GET',
  target: '/v1/pets?limit=20',
  scheme: 'http',
  httpVersion: '1.1',
  authority: 'demo.vivarium.localhost:8080',
  status: 200,
  stage: 'target',
  projectId: 'prj_demo',
  project: 'demo',
  environment: 'production',
  answeredBy: 'api',
  keyId: 'key_demo',
  address: '127.0.0.1',
  requestBytes: 0,
  responseBytes: 2,
  firstByteMs: 10,
  durationMs: 12.3,
  aborted: false,
  ...rest,
});

export const makeDetail = (number: number, rest: Partial<TrafficDetail> = {}): TrafficDetail => ({
  ...makeEntry(number),
  explanation: 'The built-in API answered.',
  timings: [
    { part: 'stages', ms: 1 },
    { part: 'waiting', ms: 9 },
    { part: 'receiving', ms: 2.3 },
  ],
  rate: { limit: 60, remaining: 59, resetSeconds: 1_795_000_000 },
  requestHeaders: [
    { name: 'Host', value: 'demo.vivarium.localhost:8080' },
    { name: 'Authorization', value: 'Bearer viv_3fQ9…' },
    { name: 'Accept', value: 'application/json' },
  ],
  responseHeaders: [{ name: 'Content-Type', value: 'application/json' }],
  requestBody: null,
  responseBody: { text: '[]', encoding: 'utf8', bytes: 2, cut: false },
  ...rest,
});

interface News {
  entries: TrafficEntry[];
  missed: number;
  dropped: number;
  cleared: boolean;
}

/** Fake traffic of an engine: kept entries, and a stream of new ones. */
export function fakeTraffic(kept: readonly TrafficEntry[] = []) {
  const all = [...kept];
  const running: TrafficEntry[] = [];
  let listener: ((news: News | null) => void) | undefined;
  const waiting: News[] = [];
  return {
    /** Newest first. */
    all,
    /** Running exchanges. */
    running,
    /** Adds entries, oldest first. */
    come(entries: TrafficEntry[], told: Partial<Omit<News, 'entries'>> = {}) {
      all.unshift(...entries.toReversed());
      this.tell({ entries, missed: 0, dropped: 0, cleared: false, ...told });
    },
    tell(news: News) {
      if (listener === undefined) waiting.push(news);
      else listener(news);
    },
    /** Ends the stream, as the engine does when it has too many streams. */
    end: () => listener?.(null),
    answers: {
      async *'traffic.watch'() {
        for (;;) {
          const news = waiting.shift() ?? (await new Promise<News | null>((resolve) => void (listener = resolve)));
          listener = undefined;
          if (news === null) return;
          yield news;
        }
      },
      'traffic.running': () => ({ items: running }),
      'traffic.list'({ limit, before }: { limit: number; before?: string }) {
        const start = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
        const items = all.slice(start, start + limit);
        const last = items.at(-1);
        const hasMore = start + items.length < all.length && last !== undefined;
        return { items, kept: all.length, dropped: 0, recording: true, ...(hasMore && { next: last.id }) };
      },
    },
  };
}

/** A summary of four steps: nothing, ten answers, ten with refusals, nothing. */
export const makeSummary = (rest: Partial<TrafficSummary> = {}): TrafficSummary => ({
  stepSeconds: 5,
  ageMs: 1_000,
  until: '2026-11-22T10:00:00.000Z',
  requests: [0, 10, 10, 0],
  refused: [0, 0, 4, 0],
  statuses: {
    none: [0, 0, 0, 0],
    '1xx': [0, 0, 0, 0],
    '2xx': [0, 10, 5, 0],
    '3xx': [0, 0, 0, 0],
    '4xx': [0, 0, 4, 0],
    '5xx': [0, 0, 1, 0],
  },
  latencyMs: { p50: [null, 2, 3, null], p90: [null, 4, 40, null], p99: [null, 9, 1_204, null] },
  quotaUsed: [null, 0.4, 1, null],
  whole: { requests: 20, refused: 4, failed: 1, p50: 2.4, p90: 20, p99: 1_180 },
  ...rest,
});
