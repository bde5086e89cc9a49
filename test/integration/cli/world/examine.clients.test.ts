import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import ky from 'ky';
import { describe, expect, test } from 'vitest';
import type { Examination } from '../../../../main/contract/examine.ts';
import { startVivarium } from '../../../../main/embed/index.ts';
import { examine, sample, verdictsOf } from '../../../support/examine-clients/examine.ts';
import { hasProgram } from '../../../support/tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const CLIENTS = join(ROOT, 'test', 'support', 'examine-clients');
const PYTHON = '/usr/bin/python3';
const hasPython = hasProgram(PYTHON, '-c', 'import pytest, requests');
const hasGo = hasProgram('go', 'version');

/** A suite by its command, and how many tests its output tells apart. */
const SUITES: [name: string, there: boolean, client: string, words: string[], command: string[], tests: number][] = [
  ['node --test', true, '../examine', ['--jobs', '2'], [process.execPath, '--test'], 4],
  ['pytest', hasPython, 'python', [], [PYTHON, '-m', 'pytest'], 1],
  ['pytest -v', hasPython, 'python', [], [PYTHON, '-m', 'pytest', '-v'], 4],
  [
    'pytest --junitxml',
    hasPython,
    'python',
    ['--results', 'report.xml'],
    [PYTHON, '-m', 'pytest', '--junitxml', 'report.xml'],
    4,
  ],
  ['unittest', hasPython, 'python', [], [PYTHON, '-m', 'unittest'], 1],
  ['go test -json', hasGo, 'go', [], ['go', 'test', '-json', './...'], 4],
  ['go test', hasGo, 'go', [], ['go', 'test', './...'], 1],
];

/** Go’s tests may not be compiled into a folder that is removed, and Python writes nothing beside its sources. */
const ENV = { PYTHONDONTWRITEBYTECODE: '1', PYTEST_ADDOPTS: '-p no:cacheprovider' };

describe.each(SUITES)('a suite of %s', (_name, isThere, client, words, command, tests) => {
  const run = (more: string[], env = {}) =>
    examine([...words, ...more, '--json'], { ...ENV, ...env }, ['--', ...command], sample(join(CLIENTS, client)));

  test.runIf(isThere)('of a right client survives all rows of quick, or fails as it should', async () => {
    const { stdout, stderr, code } = await run([]);
    const { calm, rows } = JSON.parse(stdout) as Examination;
    expect([calm.tests, calm.left, rows.length], stderr).toEqual([tests, [], 12]);
    const others = rows.filter(({ verdict }) => !['survived', 'failed_as_it_should'].includes(verdict));
    expect([others, code]).toEqual([[], 0]);
  });

  test.runIf(isThere)('of a client that repeats a POST after 500-after-commit is wrong', async () => {
    const { stdout, code } = await run(['--only', '500-after-commit'], { REPEATS_POST: '1' });
    expect([verdictsOf(stdout).map(([row, verdict]) => [row, verdict]), code]).toEqual([
      [['500-after-commit', 'wrong']],
      1,
    ]);
  });
});

test('a client without a timeout hangs, and is ended with all of its processes', async () => {
  const { stdout, code } = await examine(['--only', 'black-hole', '--json'], { HAS_NO_TIMEOUT: '1' });
  expect([verdictsOf(stdout)[0]?.slice(0, 2), code]).toEqual([['black-hole', 'hung'], 1]);
});

describe('ky, as the guide tells', () => {
  test('survives six rows of quick, and fails in the others as it should', async () => {
    const guide = readFileSync(join(ROOT, 'docs', 'use-it-in-tests.md'), 'utf8').replaceAll(/\s+/g, ' ');
    const [, version, survived, failed] =
      /\/ky\) (\S+) .*? gave: (\d+) rows survived, (\d+) failed as they should/.exec(guide) ?? [];
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const folder = sample(join(CLIENTS, 'ky'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(ROOT, 'node_modules', 'ky'), join(folder, 'node_modules', 'ky'));
    const { stdout, code } = await examine(['--jobs', '2', '--json'], {}, undefined, folder);
    const counts = Object.groupBy((JSON.parse(stdout) as Examination).rows, ({ verdict }) => verdict);
    expect([devDependencies['ky'], counts.survived?.length, counts.failed_as_it_should?.length, code]).toEqual([
      version,
      Number(survived),
      Number(failed),
      0,
    ]);
  });

  test('asks again earlier than told with maxRetryAfter, and gives up with totalTimeout', async () => {
    await using vivarium = await startVivarium();
    const parameters = { status: 503, header: 'Retry-After: 3' };
    const ask = async (options: object) => {
      const shop = await vivarium.tenant();
      await using _break = await vivarium.break('http.status', { parameters, first: 1 });
      const asked = ky.get(`${shop.baseUrl}/pets`, { fetch: shop.fetch, ...options });
      const ended = await asked.json().then(
        () => 'answered',
        (error: unknown) => (error as Error).name,
      );
      const { callers } = await vivarium.manners({ projectId: shop.id });
      const found = callers[0]?.rules.find(({ rule }) => rule === 'waits-for-retry-after')?.verdict;
      return [ended, found];
    };
    expect(await ask({ retry: { maxRetryAfter: 300 } })).toEqual(['answered', 'broken']);
    expect(await ask({ totalTimeout: 1000 })).toEqual(['TimeoutError', 'not_seen']);
    expect(await ask({})).toEqual(['answered', 'kept']);
  });
});
