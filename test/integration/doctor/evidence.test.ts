import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { askSystem } from '../../../main/base/system/system-names.ts';
import { createClock } from '../../../main/base/clock.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { createDnsClient } from '../../../main/dns/client/client.ts';
import { platformZone } from '../../../main/dns/zones/own-zones.ts';
import { TYPE_CODES } from '../../../main/dns/wire/record.ts';
import { performHandshake } from '../../../main/doctor/handshake.ts';
import { askListener, takenAddresses } from '../../../main/doctor/ports.ts';
import { startDns } from '../../support/dns/dns-server.ts';
import { closedPort, freePort, listen } from '../../support/ports.ts';

const clock = createClock();
const root = createRoot({ realNowMs: clock.now(), owner: 'a@b' });
const other = createRoot({ realNowMs: clock.now(), owner: 'c@d' });

/** A TLS server that answers every connection with `head`, or sends nothing. */
async function serveTls(signer: typeof root, hostname: string, head: string | null): Promise<number> {
  const leaf = createLeaf({ issuer: signer, hostnames: [hostname], clock, filesUrl: null });
  const server = createTlsServer({ key: leaf.privateKeyPem, cert: leaf.certificatePem }, (socket) => {
    socket.on('error', () => undefined);
    if (head !== null) socket.on('data', () => socket.end(head));
  });
  return (await listen(server)).port;
}

const handshakeWith = (port: number, hostname = 'a.test') =>
  performHandshake({ address: '127.0.0.1', port, hostname, rootPem: root.certificatePem }, clock);

const OK = 'HTTP/1.1 200 OK\r\n\r\n';

it.each([
  ['our root, the name, an answer', root, 'a.test', OK, { distrust: null, named: true, status: 200 }],
  ['another root', other, 'a.test', OK, { distrust: expect.stringMatching(/[A-Z]/), named: true, status: 200 }],
  ['another name', root, 'b.test', OK, { named: false }],
  ['another answer', root, 'a.test', 'HTTP/1.1 421 Misdirected\r\n\r\n', { status: 421 }],
  ['an answer that is not HTTP', root, 'a.test', 'SSH-2.0-OpenSSH_9\r\n', { status: null }],
] as const)('a handshake with %s is reported', async (_what, signer, name, head, expected) => {
  expect(await handshakeWith(await serveTls(signer, name, head))).toMatchObject({ ok: true, ...expected });
});

it('a failed handshake is reported', async () => {
  expect(await handshakeWith(await closedPort())).toMatchObject({ ok: false, reason: 'nothing is listening there' });
  const garbage = createServer((socket) => socket.on('error', () => undefined).end('no TLS here'));
  expect(await handshakeWith((await listen(garbage)).port)).toMatchObject({ ok: false, refusal: null });
});

it('a listener that answers, hangs up, or is missing is reported', async () => {
  const ask = (port: number) =>
    askListener(
      { scheme: 'http', address: '127.0.0.1', port, hostname: 'a.test', method: 'OPTIONS', path: '*' },
      clock,
    );
  const answering = createServer((socket) => socket.on('error', () => undefined).on('data', () => socket.end(OK)));
  const hangingUp = createServer((socket) => socket.on('error', () => undefined).end());
  expect(await ask((await listen(answering)).port)).toEqual({ status: 200 });
  expect(await ask((await listen(hangingUp)).port)).toEqual({ reason: expect.stringMatching(/./) });
  expect(await ask(await closedPort())).toEqual({ reason: 'nothing is listening there' });
});

it('a port in use at one address is reported with that address', async () => {
  const { port } = await listen(createServer(), await freePort());
  expect(await takenAddresses(['127.0.0.1', '::1'], port, clock)).toEqual(['127.0.0.1']);
});

it('a stopped DNS server gives no answer over either transport', async () => {
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
  const addresses = expect.arrayContaining(['127.0.0.1']);
  expect(await askSystem('localhost', clock)).toEqual({ addresses, reason: null, hosts: null });
});

/** Private mounts need namespaces, which containers may refuse. */
const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;

it.runIf(canMount)(
  'the system resolver is queried, and the line of the hosts file with a different address is named',
  () => {
    const folder = temporaryFolder();
    const hosts =
      '127.0.0.1 localhost here.test\n\n# 192.0.2.1 shop.test\n192.0.2.80\tWWW.shop.test  Shop.Test # us\n::1 shop.test\n';
    writeFileSync(join(folder, 'hosts'), hosts);
    writeFileSync(join(folder, 'nsswitch.conf'), 'hosts: files\n');
    const script = `
    import { askSystem } from ${JSON.stringify(join(import.meta.dirname, '../../../main/base/system/system-names.ts'))};
    import { createClock } from ${JSON.stringify(join(import.meta.dirname, '../../../main/base/clock.ts'))};
    const names = ['here.test', 'shop.test', 'none.test'];
    console.log(JSON.stringify(await Promise.all(names.map((name) => askSystem(name, createClock())))));`;
    const mount =
      'for name in hosts nsswitch.conf; do mount --bind "$1/$name" "/etc/$name"; done; exec "$2" --input-type=module -e "$3"';
    const said = execFileSync('unshare', ['-rm', 'sh', '-ec', mount, 'sh', folder, process.execPath, script]);
    const sorted = expect.arrayContaining(['192.0.2.80', '::1']);
    expect(JSON.parse(said.toString())).toEqual([
      { addresses: ['127.0.0.1'], reason: null, hosts: null },
      { addresses: sorted, reason: null, hosts: { file: '/etc/hosts', line: 4, address: '192.0.2.80' } },
      { addresses: [], reason: 'there is no such name', hosts: null },
    ]);
  },
);
