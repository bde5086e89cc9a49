import { expect, it } from 'vitest';
import { openLease } from '../../../main/cli/run/run-lease.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { CONTROL_TOKEN } from '../../support/rpc/rpc-control.ts';
import { startFakeEngine } from '../../support/rpc/rpc-cli.ts';

const URL = 'http://127.0.0.1:5173';

const RUN = {
  id: 'run_1',
  project: 'shop',
  projectId: 'prj_1',
  created: true,
  hostnames: [],
  urls: ['https://shop.vivarium.localhost:8443/'],
  pid: 1,
  folder: '/shop',
  command: 'npm run dev',
  since: '2026-11-20T09:00:00.000Z',
};

it('a server that does not answer at first is told once, then served', async () => {
  const { fake, dataDir, url } = await startFakeEngine();
  fake.stub('runs', 'hold', async function* (_input, { signal }) {
    yield { ...RUN, caFile: '/root.pem' };
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  });
  let asked = 0;
  fake.stub('runs', 'map', () => {
    asked += 1;
    if (asked < 3) throw new VivariumError('deploy_required', `Nothing is listening at ${URL}.`);
    return { run: RUN, domains: [] };
  });
  fake.stub('runs', 'close', () => ({ id: RUN.id }));
  const told: unknown[] = [];
  const input = { name: 'shop', wildcard: false, pid: 1, folder: '/shop', command: 'npm run dev' };
  const lease = await openLease(dataDir, { url, token: CONTROL_TOKEN, pid: process.pid, dataDir }, input, {
    mapped: (_result, at) => void told.push(['mapped', at]),
    refused: (message, at, isFinal) => void told.push([message, at, isFinal]),
    lost: () => void told.push('lost'),
    back: () => void told.push('back'),
  });
  lease.serve(URL);
  await expect.poll(() => told.length, { timeout: 10_000 }).toBe(2);
  await lease.close();
  expect([told, asked]).toEqual([
    [
      [`Nothing is listening at ${URL}.`, URL, false],
      ['mapped', URL],
    ],
    3,
  ]);
});
