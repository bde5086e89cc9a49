import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AcmeOrderInfo } from '../../../../main/contract/acme.ts';
import { runHere } from '../../../support/cli-io.ts';
import { startFakeEngine } from '../../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const WORDS = ['rehearse', 'renewals', 'shop.acme.test', '--from', '2028-02-16'];

const ORDER: AcmeOrderInfo = {
  ...{ id: 'a', accountId: 'b', profile: 'classic', status: 'valid', names: ['lit.acme.test'] },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-08T00:00:00.000Z' },
};

describe('vivarium rehearse renewals', () => {
  test('reports the dark times of each policy, as text, JSON, JUnit and Markdown', async () => {
    const cwd = temporaryFolder();
    const files = ['--junit', 'report.xml', '--markdown', 'report.md'];
    const { stdout, code } = await runHere([...WORDS, '--policy', 'every-60-days', '--policy', 'ari', ...files], {
      cwd,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^Repeat it with: vivarium rehearse renewals shop\.acme\.test --from 2028-02-16 --policy every-60-days --policy ari\n/,
    );
    expect(stdout).toMatch(/ ✓ \d{4}-\d{2}-\d{2} \d{2}:00: the CA revokes all certificates that are valid\n/);
    expect(stdout).toMatch(/ ✓ shop\.acme\.test: ari: \d+ renewals, dark for \d h\n/);
    expect(stdout).toMatch(/ ✗ shop\.acme\.test: every-60-days: \d renewals, dark \d times, for \d+ days in all\n/);
    expect(readFileSync(join(cwd, 'report.xml'), 'utf8')).toContain('tests="6" failures="1"');
    expect(readFileSync(join(cwd, 'report.md'), 'utf8')).toContain('5 passed, 1 failed');
    const printed = await runHere([...WORDS, '--policy', 'every-60-days', '--json']);
    const json = JSON.parse(printed.stdout) as { events: unknown[]; clients: { passed: boolean; dark: object[] }[] };
    expect([printed.code, json.events.length, json.clients[0]?.passed]).toEqual([1, 4, false]);
    expect(json.clients[0]?.dark[0]).toMatchObject({ why: expect.any(String), remedy: expect.any(String) });
  });

  test('gives the same report for the same seed, and exits with 0 if no name goes dark', async () => {
    const calm = [...WORDS, '--policy', 'third-left', '--event', 'revocation=none', '--dark-at-most', '0s'];
    const [one, same, other] = [await runHere(calm), await runHere(calm), await runHere([...calm, '--seed', '5'])];
    expect([one.code, other.code]).toEqual([0, 0]);
    expect(same.stdout).toBe(one.stdout);
    expect(other.stdout).not.toBe(one.stdout);
  });

  test('takes the certificates of the ACME clients from the running Vivarium', async () => {
    const { fake, dataDir } = await startFakeEngine();
    const invalid: AcmeOrderInfo = { ...ORDER, status: 'invalid', names: ['dark.acme.test'] };
    fake.stub('acme', 'orders', () => [ORDER, invalid, { ...ORDER, id: 'c' }]);
    const asked = ['rehearse', 'renewals', '--data-dir', dataDir, '--policy', 'ari'];
    const { stdout } = await runHere(asked);
    expect(stdout.match(/\S+\.acme\.test: ari/g)).toEqual(['lit.acme.test: ari']);
    fake.stub('acme', 'orders', () => [invalid]);
    expect(await runHere(asked)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No ACME client has a certificate from this Vivarium.'),
    });
  });

  test.each<[string, readonly string[], string]>([
    ['an unknown profile', ['--profile', 'letsencrypt-2082'], 'Did you mean "letsencrypt-2028"'],
    ['an unknown policy', ['--policy', 'yearly'], 'There are ari, third-left'],
    ['an unknown event', ['--event', 'fire=1d'], '--event must be revocation, outage, caa, authorization'],
    ['an event without a length', ['--event', 'caa'], '--event must be'],
    ['an event with an invalid length', ['--event', 'caa=long'], '--event caa must be a duration'],
    ['a revocation with a length', ['--event', 'revocation=3d'], '--event revocation has no length'],
    ['a year of no length', ['--for', '1h'], '--for must be from 1 to 3660 days'],
    ['a seed that is not a number', ['--seed', 'x'], '--seed must be a whole number'],
    ['an invalid day', ['--from', '2028-02'], '--from must be a day'],
    ['a day without a client', ['--day', '1s'], '--day is for --client'],
    ['a client and a policy', ['--client', 'true', '--policy', 'ari'], 'Give --policy or --client, not both'],
    ['a day that is too short', ['--client', 'true', '--day', '10ms'], '--day must be 100ms or more'],
    ['more than 24 hours', ['--client', 'true', '--day', '10m'], 'the rehearsal at most 24 hours'],
    ['a day too short for the profile', ['--client', 'true', '--day', '100ms', '--profile', 'shortlived'], 'too short'],
    ['an invalid hostname', ['shop acme'], '"shop acme" is not a hostname'],
  ])('exits with 2 for %s', async (_what, words, message) => {
    expect(await runHere([...WORDS, ...words])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });

  test('needs hostnames for a client', async () => {
    const { code, stderr } = await runHere(['rehearse', 'renewals', '--client', 'true']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Name the hostnames')]);
  });

  test('does not share its options with vivarium rehearse', async () => {
    const { code, stderr } = await runHere(['rehearse', 'vivarium.yaml', '--profile', 'classic']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--profile is for "rehearse renewals".')]);
  });
});
