import { expect, it } from 'vitest';
import type { ConnectionPhase } from '../../../../../renderer/connection/connection.svelte.ts';
import { Wait } from '../../../../../renderer/shared/layers/wait.svelte.ts';
import { createFakeClock } from '../../../../support/fake-clock.ts';

it('says that an answer is awaited, and later what is known about it', async () => {
  const time = createFakeClock();
  const connection: { phase: ConnectionPhase } = { phase: 'open' };
  const wait = new Wait(time, connection);
  const end = wait.begin();
  await time.pass(299);
  expect(wait.text).toBeUndefined();
  await time.pass(1);
  expect(wait.text).toBe('Waiting for the answer…');
  await time.pass(2_700);
  expect(wait.text).toBe('Sent. There is no answer yet.');
  connection.phase = 'silent';
  expect(wait.text).toBe('Sent. Vivarium does not answer at the moment.');
  connection.phase = 'lost';
  expect(wait.text).toBe('The connection is lost. Whether this was done is known when it is back.');
  end();
  expect(wait.text).toBeUndefined();
});

it('says nothing when the answer came at once', async () => {
  const time = createFakeClock();
  const wait = new Wait(time, { phase: 'open' });
  wait.begin()();
  await time.pass(10_000);
  expect(wait.text).toBeUndefined();
});
