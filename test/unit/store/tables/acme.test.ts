import { expect, test } from 'vitest';
import { createAcmeRows } from '../../../../main/store/tables/acme.ts';
import { memoryParts } from '../parts.ts';

const account = { id: 'a', key: {}, thumbprint: 't', status: 'valid', contact: [], createdAtMs: 0 } as const;

test('concurrent waits for the disk share one, which begins after what they saved, and fails for all of them', async () => {
  const { connection } = memoryParts();
  const waits: PromiseWithResolvers<unknown>[] = [];
  const sync = async () => {
    const wait = Promise.withResolvers<unknown>();
    waits.push(wait);
    await wait.promise;
  };
  const { save, stored } = createAcmeRows({ ...connection, sync });
  await stored();
  expect(waits).toHaveLength(0);

  save({ account });
  const first = [stored(), stored()];
  await expect.poll(() => waits.length).toBe(1);
  // Saved before the wait began: it is included too.
  first.push(stored());
  save({ account });
  const second = [stored(), stored()];
  waits[0]?.resolve(null);
  await Promise.all(first);
  await expect.poll(() => waits.length).toBe(2);
  waits[1]?.reject(new Error('The disk is full.'));
  expect((await Promise.allSettled(second)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);

  const third = stored();
  await expect.poll(() => waits.length).toBe(3);
  waits[2]?.resolve(null);
  await third;
  await stored();
  expect(waits).toHaveLength(3);
});
