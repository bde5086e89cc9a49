import type { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { contract } from '../../../main/contract/index.ts';
import {
  didYouMean,
  formatPath,
  nearest,
  type SchemaIssue,
  summarizeIssues,
  toInputIssues,
} from '../../../main/contract/issues.ts';

type Procedure = { '~orpc': { inputSchema?: unknown } };

/** The issues of an input, each as `path: message`. */
function issuesOf(procedure: Procedure, input: unknown, known: string[] = []) {
  const result = (procedure['~orpc'].inputSchema as z.ZodType).safeParse(input);
  const { issues } = toInputIssues((result.error?.issues ?? []) as readonly SchemaIssue[], input, known);
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

const { projects, pets, settings, clock, limits } = contract;
const KINDS = 'one of "api", "upstream"';

describe('the answer to an invalid input', () => {
  it.each<[string, Procedure, object | null, (string | RegExp)[], known?: string[]]>([
    ['a missing string', projects.get, {}, ['projectId: is required: a string']],
    ['another type', projects.get, { projectId: 5 }, ['projectId: must be a string']],
    ['the whole input', projects.get, null, [': must be an object']],
    ['an empty id', projects.get, { projectId: '' }, ['projectId: must not be empty']],
    ['a long id', projects.get, { projectId: 'x'.repeat(101) }, ['projectId: must be at most 100 characters long']],
    [
      'a word that is not in a list',
      projects.create,
      { name: 'a', plan: 'gold' },
      [/^plan: must be one of "free", "pro"/],
    ],
    [
      'numbers out of range, in place',
      projects.create,
      { name: 'a', limits: { perMinute: 0, perDay: 1.5 } },
      ['limits.perMinute: must be at least 1', 'limits.perDay: must be an integer'],
    ],
    ['a number beyond doubles', pets.list, { projectId: 'p', limit: 2 ** 60 }, ['limit: must be at most 1,000']],
    ['an unknown kind', projects.create, { name: 'a', target: { kind: 'ftp' } }, [`target.kind: must be ${KINDS}`]],
    ['a missing kind', projects.create, { name: 'a', target: {} }, [`target.kind: is required: ${KINDS}`]],
    [
      'not a URL',
      projects.create,
      { name: 'a', target: { kind: 'upstream', url: 'ftp://x' } },
      ['target.url: must be a URL such as "http://localhost:3000"'],
    ],
    ['not a moment', clock.set, { to: 'soon' }, [/^to: must be a moment in ISO 8601/]],
    ['the contract’s own sentence', clock.advance, { by: '2x' }, [/^by: must be a duration such as "10m"/]],
    [
      'the contract’s own sentence, missing',
      pets.create,
      { projectId: 'p', categoryId: 1 },
      [/^name: is required: it must be a string/],
    ],
    ['a place in a list', settings.update, { cors: ['http://a', 'x'] }, [/^cors\[1\]: must be an origin/]],
    [
      'an unknown property, with the known ones',
      settings.update,
      { banafter: 3 },
      ['banafter: is not a known property; there are banAfter, cors'],
      ['banAfter', 'cors'],
    ],
    [
      'an int64 that JSON has rounded',
      pets.create,
      { projectId: 'p', name: 'a', categoryId: JSON.parse('9007199254740993') },
      [/^categoryId: must be an integer from -9223372036854775808 to 9223372036854775807/],
    ],
    ['a large int64', pets.remove, { projectId: 'p', id: '9223372036854775808' }, [/^id: must be an integer/]],
    ['an empty caller', limits.reset, { projectId: 'p', caller: '' }, ['caller: must not be empty']],
  ])('names %s', (_what, procedure, input, expected, known) => {
    const issues = issuesOf(procedure, input, known);
    expect(issues).toEqual(expected.map((each) => (each instanceof RegExp ? expect.stringMatching(each) : each)));
  });

  it('lists at most a hundred issues', () => {
    const cors = Array.from({ length: 100 }, () => 'x');
    expect(issuesOf(settings.update, { cors: [...cors, ...cors], banAfter: 0 }).length).toBeLessThanOrEqual(100);
  });

  it('counts the others, including unknown properties', () => {
    const input = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`k${index}`, 0]));
    const result = (settings.update['~orpc'].inputSchema as z.ZodType).safeParse({ ...input, banAfter: 0 });
    const { issues, total } = toInputIssues((result.error?.issues ?? []) as readonly SchemaIssue[], input);
    expect([issues.length, total]).toEqual([100, 251]);
  });

  it('names three places in its sentence, and counts the rest', () => {
    const issues = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, message: 'must be 1' }));
    expect(summarizeIssues({ issues, total: 1_234 })).toBe('a must be 1; b must be 1; c must be 1; and 1,231 more.');
    const one = (path: string, message: string) => summarizeIssues({ issues: [{ path, message }], total: 1 });
    expect(one('a', 'forms a loop; remove one.')).toBe('a forms a loop; remove one.');
    expect(one('', 'must be an object')).toBe('the input must be an object.');
  });

  it.each([
    [[], ''],
    [['limits', 'perMinute'], 'limits.perMinute'],
    [['redirects', 0, 'from'], 'redirects[0].from'],
  ])('writes the path %j as %j', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});

const NAMES = [
  'projects',
  'pets',
  'orders',
  'limits',
  'clock',
  'status',
  'settings',
  'keys',
  'pets.list',
  'pets.create',
];

describe('the nearest match', () => {
  it.each([
    ['project', ['projects']],
    ['pest', ['pets']],
    ['PETS', ['pets', 'pets.create', 'pets.list']],
    ['clcok', ['clock']],
    ['sta', ['status']],
    ['pets.lst', ['pets.list']],
    ['kyes', ['keys']],
    ['zzzzzz', []],
    ['', []],
  ])('of %j is %j', (word, found) => {
    expect(nearest(word, NAMES)).toEqual(found);
  });

  it('names a repeated candidate once', () => {
    expect(nearest('statsu', [...NAMES, 'status'])).toEqual(['status']);
  });

  it('is suggested in a sentence', () => {
    expect(didYouMean('pest', NAMES)).toBe(' Did you mean "pets"?');
    expect(didYouMean('pets.', NAMES)).toBe(' Did you mean "pets.create", "pets.list" or "pets"?');
    expect(didYouMean('zzzzzz', NAMES)).toBe('');
  });

  it('is found quickly for words of any length', () => {
    expect(nearest('x'.repeat(1_000_000), NAMES)).toEqual([]);
  });
});
