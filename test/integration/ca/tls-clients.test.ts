import { connect, type PeerCertificate } from 'node:tls';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { openAuthority } from '../../../main/ca/authority.ts';
import { createLeafContexts } from '../../../main/ca/leaf.ts';
import { run } from '../../support/command.ts';
import { startHttpsServer } from './https-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The certificate that a verifying client receives for `servername`. */
function handshake(port: number, servername: string, ca: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, ca }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

async function start() {
  const clock = createClock({ setting: { offsetMs: 0, frozenAtMs: null } });
  const directory = join(temporaryFolder(), 'ca');
  const authority = openAuthority({ directory, clock });
  const leaves = createLeafContexts({ ...authority, clock });
  const { port } = await startHttpsServer(leaves.contextFor);
  return { clock, root: authority.root(), leaves, port };
}

test('curl refuses without the root', async () => {
  const { port } = await start();
  const { code } = await run('curl', ['-sS', `https://demo.vivarium.localhost:${port}/`]);
  expect(code).toBe(60);
});

test('Node’s TLS client verifies the requested name, and receives only that name’s leaf', async () => {
  const { port, root, leaves } = await start();
  const first = await handshake(port, 'demo.vivarium.localhost', root.certificatePem);
  const second = await handshake(port, 'DEMO-staging.vivarium.localhost', root.certificatePem);
  expect(first.subjectaltname).toBe('DNS:demo.vivarium.localhost');
  expect(second.subjectaltname).toBe('DNS:demo-staging.vivarium.localhost');
  expect(first.fingerprint256).toBe(leaves.leafFor('demo.vivarium.localhost').fingerprint);
  expect(first.serialNumber).toBe(leaves.leafFor('demo.vivarium.localhost').serial);
  expect(leaves.size).toBe(2);
});

test('a handshake after a leaf’s renewal date is served with the next leaf', async () => {
  const { clock, port, root } = await start();
  const before = await handshake(port, 'demo.vivarium.localhost', root.certificatePem);
  await clock.advance(61 * 86_400_000);
  const after = await handshake(port, 'demo.vivarium.localhost', root.certificatePem);
  expect(after.serialNumber).not.toBe(before.serialNumber);
});

test('a name outside the root’s constraints gets no certificate', async () => {
  const { port, root } = await start();
  await expect(handshake(port, 'www.evil.com', root.certificatePem)).rejects.toThrow();
});
