import { expect, it } from 'vitest';
import { createOutcomes } from '../../../main/rpc/router.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const MEBIBYTE = 1024 * 1024;

function setUp() {
  const outcomes = createOutcomes(createFakeClock());
  const ran: string[] = [];
  const call = (key: string, answer: unknown = key) =>
    outcomes.once(key, 'pets.create', {}, () => {
      ran.push(key);
      return Promise.resolve(answer);
    });
  return { call, ran };
}

it('keeps the latest thousand outcomes, and running calls in addition', async () => {
  const { call, ran } = setUp();
  const slow = Promise.withResolvers<string>();
  const first = call('slow', slow.promise);
  for (let number = 0; number <= 1_000; number += 1) await call(`${number}`);
  ran.length = 0;
  await call('1000');
  const second = call('slow');
  slow.resolve('done');
  expect([await first, await second]).toEqual(['done', 'done']);
  await call('0');
  expect(ran).toEqual(['0']);
});

it('keeps at most 16 MiB of answers, and never repeats a call because of the size of its answer', async () => {
  const { call, ran } = setUp();
  const large = 'x'.repeat(9 * MEBIBYTE);
  for (const key of ['a', 'b', 'b', 'a']) await call(key, large);
  expect(ran).toEqual(['a', 'b', 'a']);
  const huge = 'x'.repeat(17 * MEBIBYTE);
  expect(await call('c', huge)).toBe(huge);
  await expect(call('c', huge)).rejects.toMatchObject({ code: 'conflict' });
  expect(ran.filter((key) => key === 'c')).toHaveLength(1);
});
