import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BreakEntry } from '../../../main/contract/breaks.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { startFakeEngine } from '../../support/rpc/rpc-cli.ts';

beforeEach(() => void vi.stubEnv('VIVARIUM_COMMAND', 'vivarium'));
afterEach(() => void vi.unstubAllEnvs());

const entry = (id: string, selectors: BreakEntry['selectors'], at: BreakEntry['at']): BreakEntry => ({
  id,
  family: 'dns',
  title: 'It goes wrong',
  cause: '',
  symptoms: {},
  remedy: '',
  selectors,
  at,
  parameters: [],
});

const CATALOGUE = [
  entry('dns.nxdomain', ['hostname', 'type'], 'question'),
  entry('domain.claimed-elsewhere', ['hostname'], 'state'),
  entry('machine.disk-full', [], 'state'),
];

const RUNNING = {
  id: 'brk_1',
  entry: 'dns.nxdomain',
  title: 'It goes wrong',
  on: {},
  rate: 1,
  after: 0,
  nth: 1,
  seed: 1,
  parameters: {},
  startedAt: '2026-11-20T09:00:00.000Z',
  until: '2026-11-20T09:10:00.000Z',
  seen: 0,
  struck: 0,
};

async function startEngine() {
  const { fake, here } = await startFakeEngine();
  fake.stub('breaks', 'catalogue', () => CATALOGUE);
  fake.stub('breaks', 'start', () => RUNNING);
  const started = () => fake.calls.filter(({ procedure }) => procedure === 'breaks.start').map(({ input }) => input);
  const run = (words: readonly string[], typed?: string) =>
    here(['break', ...words], typed === undefined ? {} : { typed });
  return { fake, started, run };
}

const it = test.extend('engine', () => startEngine());

describe('vivarium break ENTRY without a hostname', () => {
  it.for([
    [
      ['dns.nxdomain'],
      /^vivarium: Name the hostname to break, or add --everything: vivarium break dns\.nxdomain HOSTNAME /,
    ],
    [['dns.nxdomain', '--type', 'AAAA'], /^vivarium: Name the hostname to break/],
    [
      ['domain.claimed-elsewhere'],
      /^vivarium: Name the hostname to break: vivarium break domain\.claimed-elsewhere HOSTNAME /,
    ],
    [['dns.nxdomain', 'a.test', '--everything'], /^vivarium: Give a\.test or --everything, not both\./],
    [['--everything'], /^vivarium: There is no option --everything\./],
  ] as const)('breaks nothing without a terminal: %j', async ([words, message], { engine: { started, run } }) => {
    expect(await run(words)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(started()).toEqual([]);
  });

  it('breaks all hostnames with --everything', async ({ engine: { started, run } }) => {
    expect(await run(['dns.nxdomain', '--everything'])).toMatchObject({ code: 0 });
    expect(started()).toMatchObject([{ entry: 'dns.nxdomain', on: {} }]);
  });

  it('needs nothing more where the entry selects no hostname', async ({ engine: { started, run } }) => {
    expect(await run(['machine.disk-full'])).toMatchObject({ code: 0 });
    expect(started()).toMatchObject([{ entry: 'machine.disk-full', on: {} }]);
  });

  it.for([
    ['a.test\n', { hostname: 'a.test' }],
    ['everything\n', {}],
  ] as const)('asks in a terminal: %j', async ([typed, on], { engine: { started, run } }) => {
    const { code, stderr } = await run(['dns.nxdomain'], typed);
    expect([code, stderr]).toEqual([0, 'dns.nxdomain: It goes wrong\nWhich hostname, or "everything"? [none] ']);
    expect(started()).toMatchObject([{ entry: 'dns.nxdomain', on }]);
  });

  it.for(['\n', ''])('breaks nothing without an answer: %j', async (typed, { engine: { started, run } }) => {
    expect(await run(['dns.nxdomain'], typed)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('vivarium: Nothing was broken.'),
    });
    expect(started()).toEqual([]);
  });

  it('offers everything only where an entry can break it', async ({ engine: { started, run } }) => {
    expect((await run(['domain.claimed-elsewhere'], 'a.test\n')).stderr).toContain('Which hostname? [none]');
    expect(started()).toMatchObject([{ on: { hostname: 'a.test' } }]);
  });
});

it.for([
  ['on.hostname: is required: the hostname of an attached domain.', 'HOSTNAME is required: the hostname of'],
  ['on.keyId: does not apply to x, which affects everything.', '--key does not apply to x'],
  ['parameters.seconds: must be a whole number.', '--set seconds must be a whole number.'],
  ['rate: does not apply to x: it makes one edit.', '--rate does not apply to x'],
] as const)('a refusal %j is in the words of the command line', async ([message, shown], { engine: { fake, run } }) => {
  fake.stub('breaks', 'start', () => {
    throw new VivariumError('invalid_request', message);
  });
  expect((await run(['dns.nxdomain', 'a.test'])).stderr).toContain(`vivarium: ${shown}`);
});
