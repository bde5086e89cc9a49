// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import type { StoreTrust } from '../../../../../main/contract/certificates.ts';
import type { Domain } from '../../../../../main/contract/domains.ts';
import { Connection } from '../../../../../renderer/connection/connection.svelte.ts';
import {
  CertificatesPage,
  isSuffixMissing,
  registeredName,
} from '../../../../../renderer/pages/certificates/certificates-page.svelte.ts';
import { lifeInList, lifeOf } from '../../../../../renderer/shared/domains/leaf-life.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../support/page/page-link.ts';

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

  it.each([
    [[], false],
    [[{ code: 'suffix_not_permitted', outcome: 'ok', message: '' }], false],
    [
      [
        { code: 'suffix_not_permitted', outcome: 'failed', message: '' },
        { code: 'timed_out', outcome: 'failed', message: '' },
      ],
      true,
    ],
  ] as const)('waits for the root by its checks %j: %s', (checks, waits) => {
    expect(isSuffixMissing(domain('a.test', { checks: [...checks] }))).toBe(waits);
  });
});

const STORE: StoreTrust = { store: 'nss:user', title: 'Chromium', state: 'untrusted', message: 'Not there.' };

async function setUp() {
  const time = createFakeClock();
  const transport = createFakeTransport();
  let store = STORE;
  transport.stub('ca.get', () => ({ permittedSuffixes: ['test'] }));
  transport.stub('ca.trustStatus', () => [store]);
  transport.stub('domains.list', () => [
    domain('b.test', { certificate: { state: 'issued', notAfter: after(90) } }),
    domain('a.test'),
    domain('c.test', { certificate: { state: 'issued', notAfter: after(90) } }),
  ]);
  const connection = new Connection({ transport, time, pulse: async (client) => void (await client.clock.get()) });
  connection.start();
  await settle();
  const page = new CertificatesPage({ client: connection.client, changes: connection, time });
  await settle();
  const becomes = async (next: StoreTrust) => {
    store = next;
    await time.pass(100);
    transport.tell({ type: 'ca.changed' });
    await settle();
  };
  const report = () => page.trust.reportOn(page.trust.query.value?.[0] ?? STORE);
  return { transport, page, becomes, report };
}

describe('certificates', () => {
  it('show first the domains that have one, by name', async () => {
    const { page } = await setUp();
    expect(page.domains.value?.map(({ hostname }) => hostname)).toEqual(['b.test', 'c.test', 'a.test']);
    page.close();
  });

  it('show the engine’s message about a suffix at its field', async () => {
    const { transport, page } = await setUp();
    transport.stub('ca.extend', () => {
      throw new ORPCError('conflict', { message: 'The root permits it already.' });
    });
    const form = page.extension('acme.test');
    await form.submit();
    expect([form.values.suffix, form.fault('suffix')]).toEqual(['acme.test', 'The root permits it already.']);
  });
});

describe('a trust store', () => {
  it('shows the required follow-up until it is changed elsewhere', async () => {
    const { transport, page, becomes, report } = await setUp();
    const trusted: StoreTrust = { ...STORE, state: 'trusted', message: 'The root is trusted.' };
    transport.stub('ca.trust', () => ({ ...trusted, message: 'The root is trusted. Restart Chromium.' }));
    await page.trust.trust('nss:user');
    await becomes(trusted);
    expect(report()).toMatchObject({ kind: 'answered', answer: { message: 'The root is trusted. Restart Chromium.' } });
    await becomes(STORE);
    expect(report()).toBeUndefined();
  });

  it('keeps the command for a removal that needs a password', async () => {
    const { transport, page, becomes, report } = await setUp();
    const trusted: StoreTrust = { ...STORE, state: 'trusted', message: 'The root is trusted.' };
    await becomes(trusted);
    const answer: StoreTrust = { ...trusted, command: 'sudo rm root.pem', needs: 'a password' };
    transport.stub('ca.untrust', () => answer);
    await page.trust.untrust('nss:user', 'AB:CD');
    expect(transport.calls.at(-1)?.input).toEqual({ store: 'nss:user', fingerprint: 'AB:CD' });
    expect(report()).toEqual({ kind: 'answered', action: 'untrust', answer });
  });

  it('shows why it could not be changed, until the next try', async () => {
    const { transport, page, report } = await setUp();
    transport.stub('ca.trust', () => {
      throw new ORPCError('unavailable', { message: 'The command failed.' });
    });
    expect(await page.trust.trust('nss:user')).toBeUndefined();
    expect([report(), page.trust.isBusy('nss:user')]).toEqual([
      { kind: 'failed', message: 'The command failed.' },
      false,
    ]);
  });
});
