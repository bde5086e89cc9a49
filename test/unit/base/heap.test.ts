import { expect, test } from 'vitest';
import { collectYoung } from '../../../main/base/heap.ts';

const MIB = 1024 * 1024;

function makeRubbish(count: number): void {
  for (let made = 0; made < count; made++) Buffer.allocUnsafeSlow(MIB);
}

test('what buffers held is given back', async () => {
  collectYoung();
  const before = process.memoryUsage().arrayBuffers;
  makeRubbish(8);
  collectYoung();
  // V8 frees what buffers held on a thread of its own.
  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * MIB);
});
