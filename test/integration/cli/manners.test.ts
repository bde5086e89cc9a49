import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MannersReport } from '../../../main/contract/manners.ts';
import { type Grade, MANNERS_RULES } from '../../../main/contract/grades.ts';
import { startFakeEngine } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

beforeEach(() => void vi.stubEnv('VIVARIUM_COMMAND', 'vivarium'));
afterEach(() => void vi.unstubAllEnvs());

const caller = (grade: Grade | null): MannersReport['callers'][number] => ({
  caller: 'key:key_1',
  projectId: 'prj_1',
  keyId: 'key_1',
  key: { name: 'Shop', prefix: 'viv_ab12' },
  userAgent: 'shop/1.2 <b>',
  requests: 12,
  calls: 9,
  grade,
  rules: MANNERS_RULES.map((rule, index) => ({
    rule,
    seen: index < 2 ? 9 : 0,
    kept: index < 1 ? 9 : 8,
    verdict: index < 1 ? 'kept' : index < 2 ? 'broken' : 'not_seen',
    entries: index < 2 ? ['trf_a_1', 'trf_a_2', 'trf_a_3'] : [],
  })),
});

async function startEngine(grades: (Grade | null)[]) {
  const { fake, here } = await startFakeEngine();
  fake.stub('manners', 'report', () => ({ requests: 12, callers: grades.map(caller), omitted: 0 }));
  fake.stub('manners', 'whatIf', () => ({
    requests: 12,
    refused: 3,
    bans: 0,
    callers: [],
    omitted: 0,
    steps: { stepSeconds: 1, until: '2026-11-20T09:00:00.000Z', allowed: [], refused: [] },
  }));
  const asked = () => fake.calls.filter(({ procedure }) => procedure.startsWith('manners.')).map(({ input }) => input);
  return { asked, run: (words: readonly string[]) => here(['manners', ...words]) };
}

const it = test.extend('engine', () => startEngine(['B']));

describe('vivarium manners', () => {
  it.each<[(Grade | null)[], string[], number]>([
    [['A', 'D'], [], 0],
    [['A', 'B'], ['--min', 'B'], 0],
    [['A', 'C'], ['--min', 'B'], 1],
    [['F', null], ['--min', 'F'], 0],
    [[null], [], 2],
    [[], ['--min', 'B'], 2],
  ])('of callers with the grades %j and %j exits with %i', async (grades, words, code) => {
    const { run } = await startEngine(grades);
    expect((await run(words)).code).toBe(code);
  });

  it('shows each rule, with the entries that broke it', async ({ engine: { run } }) => {
    const { stdout } = await run([]);
    expect(stdout).toMatch(/^B {2}Shop, shop\/1\.2 <b>\n {3}12 requests, 9 calls\n/);
    expect(stdout).toMatch(
      / ✓ Waits for Retry-After +9 of 9 kept\n +✗ Waits longer each time +8 of 9 kept +id:trf_a_2,trf_a_3 and 1 more\n/,
    );
    expect(stdout).toMatch(/ Does not return in a crowd +not seen\n/);
  });

  it('takes a project as a word, and a duration', async ({ engine: { asked, run } }) => {
    await run(['demo', '--since', '10m', '--caller', 'Shop']);
    expect(asked()).toEqual([{ projectId: 'demo', since: 'PT10M', caller: 'Shop' }]);
  });

  it('writes Markdown, where nothing of others is markup, and JUnit', async ({ engine: { run } }) => {
    const [markdown, junit] = ['a.md', 'a.xml'].map((name) => join(temporaryFolder(), name)) as [string, string];
    expect((await run(['demo', '--markdown', markdown, '--junit', junit])).code).toBe(0);
    expect(readFileSync(markdown, 'utf8')).toContain('### B: Shop, shop/1.2 \\<b\\>\n');
    expect(readFileSync(markdown, 'utf8')).toContain('| ✗ | Waits longer each time | 8 of 9 kept |');
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain('<testsuite name="Shop, shop/1.2 &lt;b&gt;" tests="12" failures="1" skipped="10"');
    expect(xml).toMatch(/message="8 of 9 kept">Repeat it with: vivarium manners demo --data-dir \S+\n8 of 9 kept\n/);
    expect(xml.split('Without Retry-After').length).toBe(2);
  });

  it('leads to the requests of the project, and counts callers without a grade', async () => {
    const { run } = await startEngine(['B', null, null]);
    const { stdout } = await run(['demo']);
    expect(stdout).toMatch(/: vivarium traffic demo --filter id:… --data-dir \S+\n/);
    expect(stdout).toContain('\n2 callers have no grade: it needs five observed rules. ');
  });

  it.each([
    [['--caller', 'nosuch'], 'There is no caller "nosuch" among the recorded requests.\n'],
    [[], 'No API client has sent requests.\n'],
  ])('%j: says that there is none', async (words, sentence) => {
    const { run } = await startEngine([]);
    expect(await run(words)).toMatchObject({ code: 2, stdout: sentence });
  });

  it('refuses a grade that there is not', async ({ engine: { run } }) => {
    expect(await run(['--min', 'E'])).toMatchObject({ code: 1, stderr: expect.stringContaining('A, B, C, D') });
  });
});

describe('vivarium manners what-if', () => {
  it.for([
    [['--plan', 'free'], { plan: 'free' }, 'on the plan free'],
    [
      ['demo', '--limits', '20/m,1000/d'],
      { projectId: 'demo', limits: { perMinute: 20, perDay: 1000 } },
      'by 20 per minute and 1,000 per day',
    ],
    [['--limits', '20/m'], { limits: { perMinute: 20, perDay: 1_000_000_000 } }, 'by 20 per minute'],
    [['demo'], { projectId: 'demo' }, 'by the project’s own limits'],
    [[], {}, 'by each project’s own limits'],
  ] as const)('%j asks for %j, and says so', async ([words, input, by], { engine: { asked, run } }) => {
    const { code, stdout } = await run(['what-if', ...words]);
    expect([code, asked()]).toEqual([0, [input]]);
    expect(stdout).toMatch(new RegExp(`^3 of 12 requests would be refused ${by}, with`));
  });

  it.for([
    [['--limits', '20'], '--limits must be such as 20/m,1000/d, not "20".'],
    [['--limits', '20/m,30/m'], '--limits must have one limit per minute, not 20/m,30/m.'],
    [['--limits', '0/m'], '--limits 0/m must have a number from 1 to 1,000,000,000.'],
    [['--plan', 'enterprise'], 'whose limits are agreed for each project'],
    [['--plan', 'free', '--limits', '1/m'], '--limits must not be given together with a plan'],
  ] as const)('%j is refused', async ([words, message], { engine: { run } }) => {
    expect(await run(['what-if', ...words])).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  });
});
