import { expect, it, vi } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import type { RunningBreak } from '../../../main/contract/breaks.ts';
import { startBreak } from '../../../main/embed/index.ts';

type Breaks = Parameters<typeof startBreak>[0]['breaks'];

const RUNNING = { id: 'brk_1' } as RunningBreak;

function client(stop: Breaks['stop'] = () => Promise.resolve(RUNNING)) {
  const breaks = { start: vi.fn<Breaks['start']>(() => Promise.resolve(RUNNING)), stop: vi.fn<Breaks['stop']>(stop) };
  return { breaks: breaks as unknown as Breaks & typeof breaks };
}

it('a disposable break lasts until the end of its block, and is repaired once', async () => {
  const { breaks } = client();
  {
    await using broken = await startBreak({ breaks }, { entry: 'api.sunset', nth: 2 });
    expect(broken.id).toBe('brk_1');
    await broken.repair();
  }
  expect(breaks.start).toHaveBeenCalledWith({ entry: 'api.sunset', nth: 2 });
  expect(breaks.stop.mock.calls).toEqual([[{ id: 'brk_1' }]]);
});

it('a break that has ended counts as repaired, and any other failure is reported', async () => {
  const over = client(() => Promise.reject(new VivariumError('not_found', 'No break runs.')));
  await (await startBreak(over, { entry: 'api.sunset' })).repair();
  const stuck = client(() => Promise.reject(new VivariumError('unavailable', 'No disk.')));
  await expect((await startBreak(stuck, { entry: 'api.sunset' })).repair()).rejects.toThrow('No disk.');
});
