import { once } from 'node:events';
import { killDuringOrders, STEPS } from '../../support/acme-kills.ts';
import { end, type Figure, freePort, startVivarium, temporaryFolder } from '../harness.ts';

/** Milliseconds after each request of an order at which the engine is killed. */
const DELAYS_MS = [0, 1, 2, 3, 5, 8, 12, 18, 30, 60];

/** `kill -9` at 50 points of an order: what clients find after the restart. */
export async function acmeKills(): Promise<Figure[]> {
  const dataDir = temporaryFolder();
  const ports = ['--https-port', String(await freePort())];
  const points = DELAYS_MS.flatMap((delayMs) => STEPS.map((step) => ({ step, delayMs })));
  const { ended, stuck, lost } = await killDuringOrders(
    {
      async start() {
        const { child, runtime, call } = await startVivarium(dataDir, ['--empty', ...ports]);
        return {
          ...{ runtime, call },
          async kill() {
            if (child.signalCode !== null) return;
            const exit = once(child, 'exit');
            child.kill('SIGKILL');
            await exit;
            await end(child);
          },
        };
      },
    },
    points,
  );
  const issued = ended.filter((status) => status === 'valid').length;
  return [
    {
      what: '`kill -9` at 50 points of an order: orders stuck; accounts, orders and certificates lost',
      measured: `${stuck.length}; ${lost.length}`,
      wanted: '0; 0',
      met: stuck.length === 0 && lost.length === 0 && ended.length === points.length,
      detail: [
        `${issued} issued after the kill, ${ended.length - issued} invalid with a reason`,
        ...stuck,
        ...lost,
      ].join('; '),
    },
  ];
}
