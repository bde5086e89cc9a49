import { describe, expect, it } from 'vitest';
import { expectations, steps } from '../../../main/contract/rehearsal.ts';
import { rehearse, type Rehearsal, type Stage } from '../../../main/rehearsal/rehearse.ts';

interface Played {
  calls: [procedure: string, input: unknown][];
  runs: [command: string | readonly string[], timeoutMs: number][];
}

/** Plays a rehearsal with an engine that gives `answers` by procedure, and a shell that exits with `exitCode`. */
async function play(
  given: { steps?: unknown[]; expect?: object; command?: string[] },
  { answers = {}, exitCode = 0 }: { answers?: Record<string, unknown>; exitCode?: number | null } = {},
) {
  const played: Played = { calls: [], runs: [] };
  const stage: Stage = {
    call(procedure, input) {
      played.calls.push([procedure, input]);
      const answer = answers[procedure];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
    },
    run(command, timeoutMs) {
      played.runs.push([command, timeoutMs]);
      return Promise.resolve(exitCode);
    },
    interruption: new AbortController().signal,
    steady: (text) => text.replaceAll(':8443', ''),
  };
  const rehearsal: Rehearsal = {
    file: 'a.yaml',
    repeat: 'again',
    steps: steps.parse(given.steps ?? []),
    command: given.command ?? null,
    expectations: expectations.parse(given.expect ?? {}),
  };
  const report = await rehearse(rehearsal, stage);
  const lines = [...report.steps, ...report.expectations].map(
    ({ title, outcome, reasons }) => `${outcome}: ${[title, ...reasons].join('; ')}`,
  );
  return { ...played, lines };
}

const OK = { status: 200, responseHeaders: [], responseBody: null };

describe('a step', () => {
  it('moves the clock by a duration, or to a moment', async () => {
    const { calls, lines } = await play({ steps: [{ clock: '+60d' }, { clock: '2030-01-01' }] });
    expect(calls).toEqual([
      ['clock.advance', { by: '60d' }],
      ['clock.set', { to: '2030-01-01' }],
    ]);
    expect(lines).toEqual(['passed: clock +60d', 'passed: clock 2030-01-01']);
  });

  it('sends a request as often as it specifies', async () => {
    const twice = { request: 'POST https://shop.acme.test/v1/pets?x=1', key: 'ci', times: 2, body: { name: 'Rex' } };
    const once = { request: 'http://shop.acme.test', headers: { Accept: '*/*' }, expect: { status: 404 } };
    const { calls, lines } = await play({ steps: [twice, once] }, { answers: { 'traffic.send': OK } });
    const posted = {
      ...{ hostname: 'shop.acme.test', scheme: 'https', method: 'POST', target: '/v1/pets?x=1' },
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      ...{ body: '{"name":"Rex"}', keyId: 'ci' },
    };
    const got = { hostname: 'shop.acme.test', scheme: 'http', method: 'GET', target: '/' };
    expect(calls).toEqual([
      ['traffic.send', posted],
      ['traffic.send', posted],
      ['traffic.send', { ...got, headers: [{ name: 'Accept', value: '*/*' }] }],
    ]);
    expect(lines).toEqual([
      'passed: request POST https://shop.acme.test/v1/pets?x=1 (2 times, key ci)',
      'failed: request http://shop.acme.test; the status is 200, not 404',
    ]);
  });

  it('queries the DNS', async () => {
    const answer = { rcode: 'NOERROR', question: { type: 'CAA' }, answer: [] };
    const given = { steps: [{ dns: 'acme.test caa', expect: { rcode: 'NXDOMAIN' } }] };
    const { calls, lines } = await play(given, { answers: { 'dns.query': answer } });
    expect(calls).toEqual([['dns.query', { name: 'acme.test', type: 'CAA' }]]);
    expect(lines).toEqual(['failed: dns acme.test caa; the response code is "NOERROR", not "NXDOMAIN"']);
  });

  it('breaks with its own seed, and repairs', async () => {
    const running = [
      { id: 'brk_1', entry: 'dns.servfail' },
      { id: 'brk_2', entry: 'api.sunset' },
    ];
    const on = { hostname: 'shop.acme.test' };
    const { calls, lines } = await play(
      { steps: [{ break: 'dns.servfail', on, nth: 2 }, { repair: 'all' }, { repair: 'api.banned' }] },
      { answers: { 'breaks.list': running } },
    );
    expect(calls).toEqual([
      ['breaks.start', { entry: 'dns.servfail', on, nth: 2, seed: 0 }],
      ['breaks.list', {}],
      ['breaks.stop', { id: 'brk_2' }],
      ['breaks.stop', { id: 'brk_1' }],
      ['breaks.list', {}],
    ]);
    expect(lines).toEqual([
      'passed: break dns.servfail shop.acme.test',
      'passed: repair all',
      'failed: repair api.banned; nothing is broken by api.banned',
    ]);
  });

  it.each([
    [0, 'passed: run npm test'],
    [3, 'failed: run npm test; the exit code is 3, not 0'],
    [null, 'failed: run npm test; it did not end within 5 s'],
  ])('runs a command that ends with %j', async (exitCode, line) => {
    const { runs, lines } = await play({ steps: [{ run: 'npm test', timeout: '5s' }] }, { exitCode });
    expect(runs).toEqual([['npm test', 5_000]]);
    expect(lines).toEqual([line]);
  });

  it('that fails ends the rehearsal, with the engine’s reason but not its ports', async () => {
    const { lines, runs } = await play(
      {
        steps: [{ clock: '+1s' }, { clock: '+1s' }],
        command: ['npm', 'test'],
        expect: { traffic: { 'status:5xx': 0 } },
      },
      { answers: { 'clock.advance': new Error('Refused at https://a.test:8443/.') } },
    );
    expect(lines).toEqual([
      'failed: clock +1s; Refused at https://a.test/.',
      'skipped: clock +1s',
      'skipped: run npm test',
      'skipped: traffic status:5xx: 0',
    ]);
    expect(runs).toEqual([]);
  });
});

it('runs the caller’s command last, and checks every expectation', async () => {
  const domains = { 'shop.acme.test': { certificate: 'issued', https: true } };
  const traffic = { 'status:5xx': 0, 'method:GET': { atLeast: 1 } };
  const serving = { http: true, https: true };
  const domain = { state: 'verified', certificate: { state: 'issued' }, checks: [], serving };
  const { lines, calls, runs } = await play(
    { command: ['npm', 'test'], expect: { domains, traffic } },
    { answers: { 'domains.get': domain, 'traffic.list': { items: [{}] } } },
  );
  expect(runs).toEqual([[['npm', 'test'], 600_000]]);
  expect(calls.map(([procedure]) => procedure)).toEqual(['domains.get', 'traffic.list', 'traffic.list']);
  expect(lines).toEqual([
    'passed: run npm test',
    'passed: shop.acme.test: certificate issued, https true',
    'failed: traffic status:5xx: 0; there is 1, not 0',
    'passed: traffic method:GET: at least 1',
  ]);
});

it('counts requests over all pages of their list', async () => {
  const pages: Record<string, unknown>[] = [];
  const stage: Stage = {
    call(_procedure, input) {
      pages.push(input as Record<string, unknown>);
      return Promise.resolve(
        (pages.length < 3 ? { items: [{}, {}], next: `t${pages.length}` } : { items: [] }) as never,
      );
    },
    run: () => Promise.resolve(0),
    interruption: new AbortController().signal,
    steady: (text) => text,
  };
  const rehearsal = { file: '', repeat: '', steps: [], command: null, expectations: { traffic: { '': 4 } } };
  expect((await rehearse(rehearsal, stage)).expectations).toMatchObject([{ outcome: 'passed' }]);
  expect(pages.map(({ before }) => before)).toEqual([undefined, 't1', 't2']);
});

it.each<[string, unknown, string]>([
  ['nothing', {}, 'must have one of run, clock, request, dns, break, repair'],
  ['two things', { run: 'a', dns: 'b.test' }, 'one of run, clock, request, dns, break, repair, not run and dns'],
  ['a name of another kind', { run: 'a', times: 2 }, 'does not belong to a step with "run"'],
  ['another expectation', { dns: 'a.test', expect: { status: 200 } }, 'does not belong to the expectations'],
  ['a rate of zero', { break: 'dns.servfail', rate: 0 }, 'must be more than 0 % and at most 100 %'],
  ['a break of many', { break: 'dns.servfail', times: 2 }, 'does not belong to a step with "break"'],
  ['an address with a port', { request: 'GET http://a.test:8080/' }, 'an address without a port'],
  ['a clock that goes back', { clock: '-1h' }, 'must be a duration such as'],
  ['a question with three words', { dns: 'a.test A B' }, 'must be a name and a record type'],
  ['a timeout of zero', { run: 'a', timeout: '0s' }, 'must be from one second to 24 hours'],
])('the schema of steps refuses %s', (_what, step, message) => {
  const { error } = steps.safeParse([step]);
  expect(error?.issues[0]?.message).toContain(message);
});
