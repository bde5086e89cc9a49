import { expect, it } from 'vitest';
import { dialUpstream } from '../../../main/proxy/upstream/dial.ts';
import { closedPort } from '../../support/ports.ts';

/** Blocks this thread, as long work of the engine does. */
const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

it('an upstream that refused during long work of the engine is not treated as a slow one', async () => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  const dialled = dialUpstream({ url, verifyCertificate: true }, 100);
  await new Promise<void>((resolve) => process.nextTick(resolve));
  block(300);
  expect(await dialled).toMatchObject({ what: `Nothing is listening at ${new URL(url).host}.` });
});
