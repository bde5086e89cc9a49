import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createBrokenHandshakes } from '../../../main/ca/broken-handshakes.ts';
import { intermediateOf } from '../../../main/ca/authority.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { type BrokenHandshake, NO_FAULTS } from '../../../main/model/fault.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, type RunningProxy, SHOP, startProxy, untilConnections } from '../../support/proxy/proxy-harness.ts';

const clock = createClock();
const root = createRoot({ realNowMs: clock.state().realNow, owner: 'anna@laptop' });
const intermediate = intermediateOf(root, null, null);
const broken = createBrokenHandshakes({
  ...{ root: () => root, intermediate: () => intermediate, clock },
  filesUrl: () => null,
});

const certificates = createTestCertificates([DEMO, SHOP]);

/** A proxy where a running break affects handshakes for DEMO with this entry. */
function startBroken(
  entry: string,
  make: (entry: string, hostname: string) => BrokenHandshake | Promise<BrokenHandshake> = broken.of,
  proxyClock = createFakeClock(),
): Promise<RunningProxy> {
  const fault = { breakId: 'brk_1', entry, parameters: {}, draw: 0 };
  return startProxy({
    certificates,
    clock: proxyClock,
    faults: { ...NO_FAULTS, handshake: (hostname) => (hostname === DEMO ? fault : null) },
    brokenFor: (hostname, found) => (found === null ? null : make(found.entry, hostname ?? '')),
  });
}

function open({ httpsPort }: RunningProxy, servername: string, more: ConnectionOptions = {}): TLSSocket {
  const socket = connect({ host: '127.0.0.1', port: httpsPort, servername, rejectUnauthorized: false, ...more });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function faultOf(socket: TLSSocket): Promise<string> {
  const [error] = (await once(socket, 'error')) as [Error];
  return error.message;
}

test('a running break changes the handshake of its own hostname, and of no other', async () => {
  const proxy = await startBroken('tls.expired');
  const [struck, other] = [open(proxy, DEMO), open(proxy, SHOP)];
  await Promise.all([once(struck, 'secureConnect'), once(other, 'secureConnect')]);
  expect(struck.getPeerX509Certificate()?.validToDate.getTime()).toBeLessThan(clock.state().realNow);
  expect(other.getPeerX509Certificate()?.subject).toBe('CN=vivarium test');
});

test('the traffic entry of a request names what broke the handshake of its connection', async () => {
  const proxy = await startBroken('tls.ecc384');
  const sockets = [open(proxy, DEMO), open(proxy, SHOP)];
  await Promise.all(
    sockets.map(async (socket, at) => {
      socket.resume().write(`GET / HTTP/1.1\r\nHost: ${at === 0 ? DEMO : SHOP}\r\nConnection: close\r\n\r\n`);
      await once(socket, 'close');
    }),
  );
  await untilConnections(proxy, 0);
  const faults = proxy.summaries.map(({ hostname, fault }) => [hostname, fault]);
  expect(Object.fromEntries(faults)).toEqual({ [DEMO]: { breakId: 'brk_1', entry: 'tls.ecc384' }, [SHOP]: null });
});

test('the alert for an unknown name is sent at once', async () => {
  const proxy = await startBroken('tls.unrecognized-name');
  expect(await faultOf(open(proxy, DEMO))).toMatch(/unrecognized name/);
  await untilConnections(proxy, 0);
});

test('a stalled handshake ends at the time limit for handshakes', async () => {
  const fakeClock = createFakeClock();
  const proxy = await startBroken('tls.handshake-stalls', broken.of, fakeClock);
  const socket = open(proxy, DEMO);
  await once(socket, 'connect');
  await untilConnections(proxy, 1);
  await fakeClock.pass(9_000);
  expect(proxy.proxy.connections()).toBe(1);
  const ended = faultOf(socket);
  await fakeClock.pass(2_000);
  expect(await ended).toMatch(/disconnected before secure TLS connection|ECONNRESET/);
});

test('a client waits for a key longer than the handshake limit, and then has the usual time', async () => {
  const fakeClock = createFakeClock();
  const made = Promise.withResolvers<BrokenHandshake>();
  const proxy = await startBroken('tls.rsa8192', () => made.promise, fakeClock);
  const socket = open(proxy, DEMO);
  await once(socket, 'connect');
  await untilConnections(proxy, 1);
  await fakeClock.pass(60_000);
  const secured = once(socket, 'secureConnect');
  made.resolve(broken.of('tls.ecc384', DEMO));
  await secured;
  expect(socket.getPeerX509Certificate()?.publicKey.asymmetricKeyDetails?.namedCurve).toBe('secp384r1');
});

test('a key that cannot be generated causes an internal error', async () => {
  const proxy = await startBroken('tls.rsa8192', () => Promise.reject(new Error('out of memory')));
  expect(await faultOf(open(proxy, DEMO))).toMatch(/internal error/);
});

test.each([
  ['tls.no-alpn', ['h2', 'http/1.1'], false],
  ['tls.h2-only', ['h2', 'http/1.1'], 'h2'],
])('%s with the offer %j chooses: %s', async (entry, offered, chosen) => {
  const socket = open(await startBroken(entry), DEMO, { ALPNProtocols: offered });
  await once(socket, 'secureConnect');
  expect(socket.alpnProtocol).toBe(chosen);
});

test('a server for HTTP/2 only refuses a client that does not negotiate it', async () => {
  const socket = open(await startBroken('tls.h2-only'), DEMO);
  await once(socket, 'secureConnect');
  socket.write(`GET / HTTP/1.1
Host: ${DEMO}

`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.[01] 403 /);
});

test.each([
  ['without a certificate', null, /handshake failure/],
  ['with one', 'certificate', null],
])('a server that demands a certificate answers a client %s', async (_name, given, fault) => {
  const proxy = await startBroken('tls.client-cert-missing');
  const { certificatePem: cert, privateKeyPem: key } = createLeaf({ issuer: root, hostnames: ['client.test'], clock });
  const socket = open(proxy, DEMO, given === null ? {} : { cert, key });
  if (fault !== null) {
    expect(await faultOf(socket)).toMatch(fault);
    await untilConnections(proxy, 0);
  } else expect(await once(socket, 'secureConnect')).toEqual([]);
});

test('an alert is sent before the client’s remaining data, and a client that never ends is cut off after a time', async () => {
  const fakeClock = createFakeClock();
  const proxy = await startBroken('tls.expired', broken.of, fakeClock);
  const [reader, endless] = [0, 1].map(() => {
    const socket = connectTcp({ host: '127.0.0.1', port: proxy.httpsPort, allowHalfOpen: true });
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    // A handshake record, followed by an invalid type.
    socket.write(Buffer.concat([Buffer.from([22, 3, 3, 0, 4, 9, 9, 9, 9]), Buffer.alloc(32_000)]));
    return socket;
  });
  if (reader === undefined || endless === undefined) throw new Error('There are two.');
  const [alert] = (await once(reader, 'data')) as [Buffer];
  expect([...alert.subarray(0, 1), alert.length]).toEqual([21, 7]);
  reader.end(Buffer.alloc(16_000));
  await once(reader, 'close');
  await once(endless, 'data');
  await untilConnections(proxy, 1);
  await fakeClock.pass(5_000);
  await untilConnections(proxy, 0);
});
