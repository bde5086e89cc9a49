// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { StoreTrust } from '../../../../../main/contract/certificates.ts';
import type { Domain } from '../../../../../main/contract/domains.ts';
import {
  CertificatesPage,
  isSuffixMissing,
  registeredName,
} from '../../../../../renderer/pages/certificates/certificates-page.svelte.ts';
import { lifeInList, lifeOf } from '../../../../../renderer/shared/domains/leaf-life.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

const DAY_MS = 86_400_000;
const FROM = '2026-11-20T09:00:00.000Z';
const FROM_MS = Date.parse(FROM);
const after = (days: number) => new Date(FROM_MS + days * DAY_MS).toISOString();

describe('the remaining time of a leaf', () => {
  it.each([
    [0, 1, 'ok'],
    [45, 0.5, 'ok'],
    [60, 1 / 3, 'due'],
    [89, 1 / 90, 'due'],
    [90, 0, 'expired'],
    [200, 0, 'expired'],
  ] as const)('after %i days of 90', (days, share, level) => {
    const nowMs = FROM_MS + days * DAY_MS;
    const expected = { share: expect.closeTo(share, 6) as number, level, mark: expect.closeTo(1 / 3, 6) as number };
    expect(lifeInList(after(90), nowMs)).toMatchObject(expected);
    expect(lifeOf({ notBefore: FROM, notAfter: after(90) }, after(60), nowMs)).toMatchObject(expected);
  });

  it('is drawn to its own length if the root’s end has shortened it, and is due while its renewal is refused', () => {
    const leaf = { notBefore: FROM, notAfter: after(9) };
    expect(lifeOf(leaf, after(6), FROM_MS)).toMatchObject({ share: 1, level: 'ok' });
    expect(lifeOf(leaf, undefined, FROM_MS + DAY_MS)).toMatchObject({ level: 'due' });
  });
});

const domain = (hostname: string, rest: Partial<Domain> = {}): Domain =>
  ({ hostname, kind: 'subdomain', certificate: { state: 'none' }, instructions: [], checks: [], ...rest }) as Domain;

describe('a domain', () => {
  it.each([
    ['shop.acme.com', 'subdomain', 'shop', 'acme.com'],
    ['a.b.acme.com', 'subdomain', 'a.b', 'acme.com'],
    ['acme.com', 'apex', '@', 'acme.com'],
  ] as const)('%s belongs to the name %s that its owner has registered', (hostname, kind, name, registered) => {
    const instructions: Domain['instructions'] = [{ type: 'CNAME', name, value: 'x.test', ttl: 60 }];
    expect(registeredName(domain(hostname, { kind, instructions }))).toBe(registered);
  });

  const check = (code: 'suffix_not_permitted' | 'timed_out', outcome: 'ok' | 'failed') => ({
    code,
    outcome,
    message: '',
  });
  it.each([
    [[], false],
    [[check('suffix_not_permitted', 'ok')], false],
    [[check('suffix_not_permitted', 'failed'), check('timed_out', 'failed')], true],
  ])('waits for the root by its checks %j: %s', (checks, waits) => {
    expect(isSuffixMissing(domain('a.test', { checks }))).toBe(waits);
  });
});

const STORE: StoreTrust = { store: 'nss:user', title: 'Chromium', state: 'untrusted', message: 'Not there.' };
const TRUSTED: StoreTrust = { ...STORE, state: 'trusted', message: 'The root is trusted.' };

async function setUp() {
  let store = STORE;
  const issued = { state: 'issued', notAfter: after(90) } as const;
  const parts = pageParts({
    'ca.get': () => ({ permittedSuffixes: ['test'] }),
    'ca.trustStatus': () => [store],
    'domains.list': () => [
      domain('b.test', { certificate: issued }),
      domain('a.test'),
      domain('c.test', { certificate: { state: 'expired' } }),
    ],
  });
  const page = new CertificatesPage(parts.source);
  await settle();
  const becomes = async (next: StoreTrust) => {
    store = next;
    await parts.tell('ca.changed');
  };
  const report = () => page.trust.reportOn(page.trust.query.value?.[0] ?? STORE);
  return { ...parts, page, becomes, report };
}

describe('certificates', () => {
  it('show first what has failed, by name', async () => {
    const { page } = await setUp();
    expect(page.domains.value?.map(({ hostname }) => hostname)).toEqual(['c.test', 'a.test', 'b.test']);
    page.close();
  });

  it('show the engine’s message about a suffix at its field', async () => {
    const { answers, page } = await setUp();
    answers['ca.extend'] = refuses('conflict', 'The root permits it already.');
    const form = page.extension('acme.test');
    await form.submit();
    expect([form.values.suffix, form.fault('suffix')]).toEqual(['acme.test', 'The root permits it already.']);
  });
});

describe('a trust store', () => {
  it('shows the required follow-up until it is changed elsewhere', async () => {
    const { answers, page, becomes, report } = await setUp();
    answers['ca.trust'] = () => ({ ...TRUSTED, message: 'The root is trusted. Restart Chromium.' });
    await page.trust.trust('nss:user');
    await becomes(TRUSTED);
    expect(report()).toMatchObject({ kind: 'answered', answer: { message: 'The root is trusted. Restart Chromium.' } });
    await becomes(STORE);
    expect(report()).toBeUndefined();
  });

  it('keeps the command for a removal that needs a password', async () => {
    const { answers, calls, page, becomes, report } = await setUp();
    await becomes(TRUSTED);
    const answer: StoreTrust = { ...TRUSTED, command: 'sudo rm root.pem', needs: 'a password' };
    answers['ca.untrust'] = () => answer;
    await page.trust.untrust('nss:user', 'AB:CD');
    expect(calls.at(-1)?.input).toEqual({ store: 'nss:user', fingerprint: 'AB:CD' });
    expect(report()).toEqual({ kind: 'answered', action: 'untrust', answer });
  });

  it('shows why it could not be changed, until the next try', async () => {
    const { answers, page, report } = await setUp();
    answers['ca.trust'] = refuses('unavailable', 'The command failed.');
    expect(await page.trust.trust('nss:user')).toBeUndefined();
    const failed = { kind: 'failed', message: 'The command failed.' };
    expect([report(), page.trust.isBusy('nss:user')]).toEqual([failed, false]);
  });
});
