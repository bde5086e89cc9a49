import { expect, it } from 'vitest';
import { startVivarium } from '../../../main/embed/index.ts';

it('the clients of a test are graded, and their requests decided again', async () => {
  await using vivarium = await startVivarium();
  const shop = await vivarium.tenant();
  const other = await vivarium.tenant();
  // 60 a minute are allowed, and what is refused 20 times is banned.
  for (let request = 0; request < 85; request++) await (await shop.fetch('/pets')).arrayBuffer();
  await (await other.fetch('/pets')).arrayBuffer();
  const { callers } = await vivarium.manners();
  expect(callers).toMatchObject([
    { projectId: shop.id, requests: 85, grade: 'F' },
    { projectId: other.id, requests: 1, grade: null },
  ]);
  expect((await vivarium.manners({ projectId: other.id })).callers).toMatchObject([{ requests: 1 }]);
  expect(await vivarium.manners.whatIf()).toMatchObject({ requests: 86, refused: 25, bans: 1 });
  expect(await vivarium.manners.whatIf({ plan: 'pro' })).toMatchObject({ requests: 86, refused: 0, bans: 0 });
});
