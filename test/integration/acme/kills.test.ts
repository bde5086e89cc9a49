import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type KillPoint, killDuringOrders } from '../../support/acme/acme-kills.ts';
import { freePort } from '../../support/ports.ts';
import { startProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// `npm run bench -- acmeKills` covers 50 points.
const POINTS: readonly KillPoint[] = [
  { step: 'order', delayMs: 0 },
  { step: 'challenge', delayMs: 3 },
  { step: 'finalize', delayMs: 3 },
];

test('an order continues after kill -9, and accounts and certificates are kept', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const httpsPort = String(await freePort());
  const { ended, stuck, lost } = await killDuringOrders(
    {
      async start() {
        const { runtime, end } = await startProgram(['--empty', '--https-port', httpsPort], { dataDir });
        return {
          runtime,
          kill: () => end('SIGKILL'),
          async call(procedure, input) {
            const response = await fetch(`${runtime.control.url}/api/${procedure.replace('.', '/')}`, {
              method: 'POST',
              headers: { authorization: `Bearer ${runtime.control.token}`, 'content-type': 'application/json' },
              body: JSON.stringify(input),
            });
            if (!response.ok) throw new Error(await response.text());
          },
        };
      },
    },
    POINTS,
  );
  expect({ ended, stuck, lost }).toEqual({ ended: POINTS.map(() => 'valid'), stuck: [], lost: [] });
});
