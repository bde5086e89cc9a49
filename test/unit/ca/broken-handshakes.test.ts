import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { connect, TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { TLS_ENTRIES } from '../../../main/breaks/catalogue/tls.ts';
import { renderStandingHost, STANDING_HOSTS } from '../../../main/breaks/standing-hosts.ts';
import { BROKEN_HANDSHAKES, createBrokenHandshakes } from '../../../main/ca/broken-handshakes.ts';
import { intermediateOf } from '../../../main/ca/authority.ts';
import { createRoot, extendRoot, type Root } from '../../../main/ca/root.ts';
import type { BrokenHandshake } from '../../../main/model/fault.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../support/fake-clock.ts';

const HOST = 'a.b.shop.acme.test';
const DAY_MS = 86_400_000;

let root: Root;
let broken: ReturnType<typeof createBrokenHandshakes>;
let clock: ReturnType<typeof createFakeClock>;

function open(leavesOnly = false): void {
  clock = createFakeClock();
  root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop', leavesOnly });
  broken = createBrokenHandshakes({
    root: () => root,
    intermediate: () => (root.leavesOnly ? null : intermediateOf(root, null, null)),
    clock,
    filesUrl: () => 'http://127.0.0.1:8080',
  });
}

beforeEach(() => open());

async function certificates(entry: string): Promise<X509Certificate[]> {
  const handshake = await broken.of(entry, HOST);
  if (handshake.kind !== 'handshake') throw new Error('It shows no certificate.');
  const server = createServer((raw: Socket) => {
    raw.on('error', () => undefined);
    new TLSSocket(raw, { isServer: true, secureContext: handshake.context }).on('error', () => undefined);
  });
  const socket = connect({ port: await listening(server), rejectUnauthorized: false, ciphers: 'DEFAULT:@SECLEVEL=0' });
  await once(socket, 'secureConnect');
  const shown: X509Certificate[] = [];
  for (let one = socket.getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) shown.push(one);
  socket.destroy();
  return shown;
}

async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const leaf = async (entry: string): Promise<X509Certificate> => {
  const [first] = await certificates(entry);
  if (first === undefined) throw new Error('Nothing was shown.');
  return first;
};

test('there are 27, each with a catalogue entry and a hostname', () => {
  expect(BROKEN_HANDSHAKES.size).toBe(27);
  expect(new Set(TLS_ENTRIES.map(({ id }) => id))).toEqual(BROKEN_HANDSHAKES);
  expect([...STANDING_HOSTS.keys()]).toContain('expired.break.vivarium.localhost');
  expect(STANDING_HOSTS.size).toBe(27);
  for (const host of STANDING_HOSTS.values()) {
    const page = renderStandingHost(host);
    expect([page.heading, page.message]).toEqual([host.entry.title, host.entry.cause]);
  }
});

test.each<[string, number, number]>([
  ['tls.expired', -100, -10],
  ['tls.not-yet-valid', 30, 120],
  ['tls.too-long', -1 / 24, 1_000],
])('%s is valid from day %d to day %d in real time, whatever the app’s clock shows', async (entry, begin, end) => {
  await clock.advance(400 * DAY_MS);
  const { realNow } = clock.state();
  const { validFromDate, validToDate } = await leaf(entry);
  expect([validFromDate, validToDate].map((date) => (date.getTime() - realNow) / DAY_MS)).toEqual([
    expect.closeTo(begin, 3),
    expect.closeTo(end, 3),
  ]);
});

test.each<[string, string]>([
  ['tls.expired', `DNS:${HOST}`],
  ['tls.wrong-host', 'DNS:another-hostname.vivarium.localhost'],
  ['tls.outside-name-constraints', `DNS:${HOST}, DNS:www.example.com`],
  ['tls.two-labels-deep', 'DNS:*.shop.acme.test'],
])('%s is for %s', async (entry, names) => {
  expect((await leaf(entry)).subjectAltName).toBe(names);
});

test('the names and subjects are broken as named', async () => {
  expect((await leaf('tls.1000-sans')).subjectAltName?.split(', ')).toHaveLength(1_000);
  expect((await leaf('tls.no-common-name')).subject).toBe('O=Vivarium');
  expect((await leaf('tls.no-subject')).subject ?? '').toBe('');
  expect((await leaf('tls.client-auth-only')).keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect((await leaf('tls.sha1')).signatureAlgorithm).toBe('ecdsa-with-SHA1');
});

test('the keys are broken as named', async () => {
  expect((await leaf('tls.ecc384')).publicKey.asymmetricKeyDetails?.namedCurve).toBe('secp384r1');
  expect((await leaf('tls.rsa1024')).publicKey.asymmetricKeyDetails?.modulusLength).toBe(1_024);
});

test('the chains are broken as named', async () => {
  const intermediate = intermediateOf(root, null, null).certificate.subject;
  const subjects = async (entry: string) => (await certificates(entry)).map(({ subject }) => subject).slice(1);
  expect(await subjects('tls.expired')).toEqual([intermediate]);
  expect(await subjects('tls.incomplete-chain')).toEqual([]);
  expect(await subjects('tls.reversed-chain')).toEqual([root.certificate.subject, intermediate]);
  const own = await leaf('tls.self-signed');
  expect(own.verify(own.publicKey)).toBe(true);
  const [strange, stranger] = await certificates('tls.untrusted-root');
  expect(stranger?.subject).toMatch(/^O=Vivarium\nCN=Vivarium root \(untrusted /);
  expect(strange?.verify(root.certificate.publicKey)).toBe(false);
});

test('the other terms of the handshake are broken as named', () => {
  const termsOf = (entry: string) => broken.of(entry, HOST) as BrokenHandshake;
  expect(termsOf('tls.no-alpn')).toMatchObject({ protocols: null, http2Only: false });
  expect(termsOf('tls.h2-only')).toMatchObject({ protocols: ['h2'], http2Only: true });
  expect(termsOf('tls.client-cert-missing')).toMatchObject({ clientCertificate: true });
  expect(termsOf('tls.unrecognized-name')).toEqual({ kind: 'unrecognized_name' });
  expect(termsOf('tls.handshake-stalls')).toEqual({ kind: 'stall' });
  expect(() => broken.of('tls.other', HOST)).toThrow('There is no broken handshake "tls.other".');
});

describe('a handshake', () => {
  test('is kept for a day, until the root changes, separately for each hostname', async () => {
    const first = broken.of('tls.expired', HOST);
    expect(broken.of('tls.expired', HOST)).toBe(first);
    expect(broken.of('tls.expired', 'www.acme.test')).not.toBe(first);
    root = extendRoot(root, 'acme.com', FAKE_NOW_MS);
    const extended = broken.of('tls.expired', HOST);
    expect(extended).not.toBe(first);
    await clock.pass(DAY_MS);
    expect(broken.of('tls.expired', HOST)).not.toBe(extended);
  });

  test('that is revoked is on the list from its first use', async () => {
    expect(broken.revoked()).toEqual([]);
    const { serialNumber } = await leaf('tls.revoked');
    expect(broken.revoked()).toMatchObject([{ serial: serialNumber, reason: 'keyCompromise' }]);
  });

  test('below a root without intermediates is signed by the root, if that shows the fault', async () => {
    open(true);
    expect((await leaf('tls.expired')).verify(root.certificate.publicKey)).toBe(true);
    expect(() => broken.of('tls.reversed-chain', HOST)).toThrow('Renew the root: `ca.renew`.');
  });
});
