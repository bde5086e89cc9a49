import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { openAuthority } from '../../../main/ca/authority.ts';
import { createLeafContexts } from '../../../main/ca/leaf-contexts.ts';
import { end, type Figure, median, startVivarium, temporaryFolder } from '../harness.ts';

const LEAVES = 200;
const MKCERT_LEAVES = 20;

/**
 * Making a leaf with its TLS context, ready for SNI: compared with mkcert, and as seen by the first client to ask for
 * it.
 */
export async function leaf(): Promise<Figure[]> {
  const ownMs = ownLeafMs();
  const firstMs = await firstHandshakeMs();
  const served: Figure = {
    what: 'a leaf certificate, from call to served by SNI',
    measured: `${ownMs.toFixed(2)} ms`,
    wanted: '≤ 2 ms',
    met: ownMs <= 2,
    detail: `the first handshake of a hostname takes ${firstMs.extra.toFixed(2)} ms longer than a later one (${firstMs.later.toFixed(2)} ms), over the socket`,
  };
  const mkcertMs = mkcertLeafMs();
  if (mkcertMs === null) return [served];
  return [
    served,
    {
      what: 'the same against mkcert -ecdsa making one',
      measured: `${(mkcertMs / ownMs).toFixed(1)} × faster`,
      wanted: '≥ 5 ×',
      met: mkcertMs / ownMs >= 5,
      detail: `mkcert takes ${mkcertMs.toFixed(1)} ms, a process of its own each time, as it is used`,
    },
  ];
}

function ownLeafMs(): number {
  const clock = createClock();
  const authority = openAuthority({ directory: join(temporaryFolder(), 'ca'), clock, log: silentLog });
  const leaves = createLeafContexts({ ...authority, clock });
  const timesMs = Array.from({ length: LEAVES }, (_, index) => {
    const startedMs = performance.now();
    leaves.contextFor(`leaf${index}.bench.test`);
    return performance.now() - startedMs;
  });
  clock.stop();
  return median(timesMs);
}

/** A platform hostname's leaf is made when the first client asks for it. */
async function firstHandshakeMs(): Promise<{ later: number; extra: number }> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const { port } = vivarium.runtime.https;
  const handshakeMs = async (servername: string): Promise<number> => {
    const startedMs = performance.now();
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const takenMs = performance.now() - startedMs;
    socket.destroy();
    return takenMs;
  };
  const first: number[] = [];
  const later: number[] = [];
  for (let index = 0; index < LEAVES; index++) {
    const { slug } = await vivarium.call<{ slug: string }>('projects.create', { name: `Leaf ${index}` });
    const hostname = `${slug}.vivarium.localhost`;
    first.push(await handshakeMs(hostname));
    later.push(await handshakeMs(hostname));
  }
  await end(vivarium.child);
  return { later: median(later), extra: median(first) - median(later) };
}

/**
 * Null without mkcert. Creates mkcert's root before the first round, in a separate folder; no trust store contains it.
 */
function mkcertLeafMs(): number | null {
  const folder = temporaryFolder();
  const make = (index: number): number | null => {
    const args = ['-ecdsa', '-cert-file', join(folder, 'c.pem'), '-key-file', join(folder, 'k.pem'), `m${index}.test`];
    const startedMs = performance.now();
    const done = spawnSync('mkcert', args, { env: { ...process.env, CAROOT: folder, TRUST_STORES: 'none' } });
    return done.status === 0 ? performance.now() - startedMs : null;
  };
  if (make(0) === null) return null;
  const timesMs = Array.from({ length: MKCERT_LEAVES }, (_, index) => make(index + 1));
  return median(timesMs.filter((ms) => ms !== null));
}
