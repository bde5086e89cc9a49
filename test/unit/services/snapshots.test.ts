import { expect, it, vi } from 'vitest';
import { createSnapshotServices } from '../../../main/services/snapshots.ts';

type Options = Parameters<typeof createSnapshotServices>[0];

it('snapshots are refused while a break has edited what they would contain', async () => {
  const save = vi.fn<Options['rows']['save']>();
  const breaks = { edited: () => ['domain.dangling-cname'], stopAll: () => Promise.resolve([]) };
  const { save: take } = createSnapshotServices({ rows: { save }, breaks } as unknown as Options);
  const input = { name: 'demo', force: false, traffic: false };
  await expect(take(input, { signal: undefined })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(
      'broken on purpose (domain.dangling-cname), and a saved one could not be repaired. Repair it, or end the drill, first: `breaks.stopAll`',
    ),
  });
  expect(save).not.toHaveBeenCalled();
});
