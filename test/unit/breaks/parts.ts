import { onTestFinished } from 'vitest';
import { type Breaks, createBreaks, type StartInput } from '../../../main/breaks/breaks.ts';
import type { Breakable } from '../../../main/breaks/check.ts';
import type { StateBreak } from '../../../main/breaks/state-break.ts';
import { silentLog } from '../../../main/base/log.ts';
import type { BreakEntry } from '../../../main/contract/breaks.ts';
import type { RequestFacts } from '../../../main/model/fault.ts';
import type { Store } from '../store/parts.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { memoryStore } from '../store/parts.ts';

const entry = (id: string, more: Partial<BreakEntry> = {}): BreakEntry => ({
  ...{ id, family: id.split('.', 1)[0] as BreakEntry['family'], title: id, cause: '', symptoms: {}, remedy: '' },
  selectors: ['hostname', 'projectId', 'path', 'method', 'keyId', 'header'],
  parameters: [],
  ...more,
});

/** Entries of every kind. */
export const ENTRIES: readonly BreakEntry[] = [
  entry('api.unavailable', {
    parameters: [
      { name: 'retryAfterS', description: 'seconds', default: 30, min: 1, max: 3_600 },
      { name: 'body', description: 'what it says', default: 'json', values: ['json', 'html'] },
      { name: 'header', description: 'a field', default: '', form: 'field' },
    ],
  }),
  entry('http.early-hints-flood'),
  entry('http.refused-stream', { http: 'HTTP/2' }),
  entry('api.staging-down', { environment: 'staging' }),
  entry('connection.reset-on-accept', { at: 'connection', selectors: ['hostname', 'projectId'] }),
  entry('connection.refused', { impossible: 'a port is refused for all hostnames at once.' }),
  entry('dns.servfail', { selectors: ['hostname', 'type'] }),
  entry('tls.expired', { selectors: ['hostname', 'projectId'] }),
  entry('domain.no-record', { selectors: ['hostname'] }),
  entry('ca.bad-nonces', { selectors: [], rate: 0.05 }),
  entry('ca.renew-now', { selectors: ['hostname'] }),
];

export interface Parts {
  clock: FakeClock;
  store: Store;
  breaks: Breaks;
  start(entry: string, more?: Partial<StartInput>): ReturnType<Breaks['start']>;
  /** Another engine on the same store, as after `kill -9`. */
  again(): Promise<Parts>;
}

const BREAKABLE: Breakable = {
  catalogue: ENTRIES,
  served: () =>
    new Map(
      ['shop.acme.test Shop', '*.tenants.acme.test Shop', 'demo.vivarium.localhost Demo'].map((line) => {
        const [hostname = '', projectName = ''] = line.split(' ');
        return [hostname, { projectId: `prj_${projectName}`, projectName }];
      }),
    ),
  isInZone: (name) => name.endsWith('acme.test'),
  hasKey: (keyId) => keyId === 'key_here',
};

export function breaksOn(
  states: ReadonlyMap<string, StateBreak> = new Map(),
  { store = memoryStore(), clock = createFakeClock() }: Partial<Pick<Parts, 'store' | 'clock'>> = {},
): Parts {
  const breaks = createBreaks({
    clock,
    log: silentLog,
    storage: store.breaks,
    breakable: BREAKABLE,
    states,
    onChanged: () => undefined,
  });
  onTestFinished(() => breaks.close());
  return {
    clock,
    store,
    breaks,
    start: (id, more = {}) =>
      breaks.start({ entry: id, on: {}, rate: 1, nth: 1, seed: 1, parameters: {}, forMs: 600_000, ...more }),
    async again() {
      const next = breaksOn(states, { store, clock: createFakeClock({ nowMs: clock.now() }) });
      await next.breaks.resume();
      return next;
    },
  };
}

export const request = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  ...{ hostname: 'shop.acme.test', method: 'GET', path: '/v1/pets', keyId: null, headers: {} },
  ...{ scheme: 'http', http2: false, environment: 'production' },
  ...more,
});
