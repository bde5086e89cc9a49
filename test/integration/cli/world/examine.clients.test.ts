import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Examination } from '../../../../main/contract/examine.ts';
import { examine, sample, verdictsOf } from '../../../support/examine-clients/examine.ts';
import { hasProgram } from '../../../support/tools.ts';

const CLIENTS = join(import.meta.dirname, '..', '..', '..', 'support', 'examine-clients');
const PYTHON = '/usr/bin/python3';
const hasPython = hasProgram(PYTHON, '-c', 'import pytest, requests');
const hasGo = hasProgram('go', 'version');

/** A suite by its command, and how many tests its output tells apart. */
const SUITES: [name: string, there: boolean, client: string, words: string[], command: string[], tests: number][] = [
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
