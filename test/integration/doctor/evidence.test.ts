import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { createDnsClient } from '../../../main/dns/client.ts';
import { platformZone } from '../../../main/dns/platform-zone.ts';
import { TYPE_CODES } from '../../../main/dns/record.ts';
import { resolveBySystem } from '../../../main/doctor/dns.ts';
import { performHandshake } from '../../../main/doctor/handshake.ts';
import { askListener } from '../../../main/doctor/listeners.ts';
import { takenAddresses } from '../../../main/doctor/ports.ts';
import { startDns } from '../../support/dns-server.ts';
import { closedPort } from '../../support/ports.ts';

const clock = createClock();
const root = createRoot({ realNowMs: clock.now(), owner: 'a@b' });
const other = createRoot({ realNowMs: clock.now(), owner: 'c@d' });

function listen<AnyServer extends Server>(server: AnyServer): Promise<number> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** A TLS server that answers every connection with `head`, or says nothing. */
async function serveTls(signer: typeof root, hostname: string, head: string | null): Promise<number> {
  const leaf = createLeaf({ issuer: signer, hostnames: [hostname], clock, filesUrl: null });
  const server = createTlsServer({ key: leaf.privateKeyPem, cert: leaf.certificatePem }, (socket) => {
    socket.on('error', () => undefined);
    if (head !== null) socket.on('data', () => socket.end(head));
  });
  return listen(server);
}

const handshakeWith = (port: number, hostname = 'a.test') =>
  performHandshake({ address: '127.0.0.1', port, hostname, rootPem: root.certificatePem }, clock);

const OK = 'HTTP/1.1 200 OK\r\n\r\n';

it.each([
  ['our root, the name, an answer', root, 'a.test', OK, { distrust: null, named: true, status: 200 }],
  [
    'another root',
    other,
    'a.test',
    OK,
    { distrust: expect.stringMatching(/[A-Z]/) as string, named: true, status: 200 },
  ],
  ['another name', root, 'b.test', OK, { named: false }],
  ['another answer', root, 'a.test', 'HTTP/1.1 421 Misdirected\r\n\r\n', { status: 421 }],
  ['an answer that is no HTTP', root, 'a.test', 'SSH-2.0-OpenSSH_9\r\n', { status: null }],
] as const)('a handshake with %s is told', async (_what, signer, name, head, expected) => {
  expect(await handshakeWith(await serveTls(signer, name, head))).toMatchObject({ ok: true, ...expected });
});

it('a failed handshake is reported', async () => {
  expect(await handshakeWith(await closedPort())).toMatchObject({ ok: false, reason: 'nothing is listening there' });
  const garbage = createServer((socket) => socket.on('error', () => undefined).end('no TLS here'));
  expect(await handshakeWith(await listen(garbage))).toMatchObject({ ok: false, refusal: null });
});

it('a listener that answers, hangs up, or is missing is reported', async () => {
  const ask = (port: number) =>
    askListener(
      { scheme: 'http', address: '127.0.0.1', port, hostname: 'a.test', method: 'OPTIONS', path: '*' },
      clock,
    );
  const answering = createServer((socket) => socket.on('error', () => undefined).on('data', () => socket.end(OK)));
  const hangingUp = createServer((socket) => socket.on('error', () => undefined).end());
  expect(await ask(await listen(answering))).toEqual({ status: 200 });
  expect(await ask(await listen(hangingUp))).toEqual({ reason: expect.stringMatching(/./) as string });
  expect(await ask(await closedPort())).toEqual({ reason: 'nothing is listening there' });
});

it('a port taken at one address is reported with that address', async () => {
  const port = await listen(createServer());
  expect(await takenAddresses(['127.0.0.1', '::1'], port, clock)).toEqual(['127.0.0.1']);
});

it('a DNS server that was stopped gives no answer over either transport', async () => {
  const client = createDnsClient(clock);
  onTestFinished(() => client.close());
  const { server, port } = await startDns([platformZone()]);
  const question = { name: 'cname.vivarium.localhost', type: TYPE_CODES.A };
  const ask = (transport: 'udp' | 'tcp', address: string) => client.askOver(transport, { address, port }, question);
  for (const transport of ['udp', 'tcp'] as const) {
    for (const address of ['127.0.0.1', '::1']) {
      expect(await ask(transport, address)).toMatchObject({ kind: 'answered', rcode: 'NOERROR', transport });
    }
  }
  await server.stop();
  for (const transport of ['udp', 'tcp'] as const) {
    expect(await ask(transport, '127.0.0.1')).toEqual({
      kind: 'failed',
      reason: 'unreachable',
      detail: 'the port is closed',
    });
  }
});

it('the system resolves localhost', async () => {
  expect(await resolveBySystem('localhost')).toEqual({ addresses: expect.arrayContaining(['127.0.0.1']) as string[] });
});
