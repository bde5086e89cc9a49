import type { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { contract } from '../../../main/contract/index.ts';
import { formatPath, summarizeIssues, toInputIssues, type SchemaIssue } from '../../../main/contract/issues.ts';

function issuesOf(procedure: { '~orpc': { inputSchema?: unknown } }, input: unknown, known: string[] = []) {
  const result = (procedure['~orpc'].inputSchema as z.ZodType).safeParse(input);
  return toInputIssues((result.error?.issues ?? []) as readonly SchemaIssue[], input, known).issues;
}

const { projects, pets, settings, clock, limits } = contract;

describe('the answer to an invalid input', () => {
  it.each<[string, ReturnType<typeof issuesOf>, [path: string, message: string | RegExp][]]>([
    ['a missing string', issuesOf(projects.get, {}), [['projectId', 'is required: a string']]],
    ['another type', issuesOf(projects.get, { projectId: 5 }), [['projectId', 'must be a string']]],
    ['the whole input', issuesOf(projects.get, null), [['', 'must be an object']]],
    ['an empty id', issuesOf(projects.get, { projectId: '' }), [['projectId', 'must be at least 1 character long']]],
    [
      'a long id',
      issuesOf(projects.get, { projectId: 'x'.repeat(101) }),
      [['projectId', 'must be at most 100 characters long']],
    ],
    [
      'a word that is not in a list',
      issuesOf(projects.create, { name: 'a', plan: 'gold' }),
      [['plan', 'must be one of "free", "pro", "business", "enterprise"']],
    ],
    [
      'numbers out of range, in place',
      issuesOf(projects.create, { name: 'a', limits: { perMinute: 0, perDay: 1.5 } }),
      [
        ['limits.perMinute', 'must be at least 1'],
        ['limits.perDay', 'must be an integer'],
      ],
    ],
    [
      'a number beyond the range of doubles',
      issuesOf(pets.list, { projectId: 'p', limit: 2 ** 60 }),
      [['limit', 'must be at most 1,000']],
    ],
    [
      'an unknown kind',
      issuesOf(projects.create, { name: 'a', target: { kind: 'ftp' } }),
      [['target.kind', 'must be one of "api", "upstream"']],
    ],
    [
      'a missing kind',
      issuesOf(projects.create, { name: 'a', target: {} }),
      [['target.kind', 'is required: one of "api", "upstream"']],
    ],
    [
      'not a URL',
      issuesOf(projects.create, { name: 'a', target: { kind: 'upstream', url: 'ftp://x' } }),
      [['target.url', 'must be a URL such as "http://localhost:3000"']],
    ],
    ['not a moment', issuesOf(clock.set, { to: 'soon' }), [['to', /^must be a moment in ISO 8601/]]],
    [
      'the contract’s own sentence',
      issuesOf(clock.advance, { by: '2x' }),
      [['by', /^must be a duration such as "10m"/]],
    ],
    [
      'the contract’s own sentence, missing',
      issuesOf(pets.create, { projectId: 'p', categoryId: 1 }),
      [['name', /^is required: it must be a string/]],
    ],
    ['a place in a list', issuesOf(settings.update, { cors: ['http://a', 'x'] }), [['cors[1]', /^must be an origin/]]],
    [
      'an unknown property, with the known ones',
      issuesOf(settings.update, { banafter: 3 }, ['banAfter', 'cors']),
      [['banafter', 'is not a known property; there are banAfter, cors']],
    ],
    [
      'an int64 that JSON has rounded',
      issuesOf(pets.create, { projectId: 'p', name: 'a', categoryId: JSON.parse('9007199254740993') }),
      [['categoryId', /^must be an integer from -9223372036854775808 to 9223372036854775807/]],
    ],
    [
      'an int64 that is too large',
      issuesOf(pets.remove, { projectId: 'p', id: '9223372036854775808' }),
      [['id', /^must be an integer/]],
    ],
    [
      'an empty caller',
      issuesOf(limits.reset, { projectId: 'p', caller: '' }),
      [['caller', 'must be at least 1 character long']],
    ],
  ])('names %s', (_what, issues, expected) => {
    expect(issues).toEqual(
      expected.map(([path, message]) => ({
        path,
        message: message instanceof RegExp ? expect.stringMatching(message) : message,
      })),
    );
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
    expect(summarizeIssues({ issues: [{ path: 'a', message: 'forms a loop; remove one.' }], total: 1 })).toBe(
      'a forms a loop; remove one.',
    );
    expect(summarizeIssues({ issues: [{ path: '', message: 'must be an object' }], total: 1 })).toBe(
      'the input must be an object.',
    );
  });

  it.each([
    [[], ''],
    [['limits', 'perMinute'], 'limits.perMinute'],
    [['redirects', 0, 'from'], 'redirects[0].from'],
  ])('writes the path %j as %j', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});
