import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startVivarium } from '../../../main/embed/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Writes a world in a new folder; returns its path. */
function writeWorld(text: string): string {
  const path = join(temporaryFolder(), 'vivarium.yaml');
  writeFileSync(path, text);
  return path;
}

it('a file is brought up, with its keys and hostnames', async () => {
  const file = writeWorld(`vivarium: 1
projects:
  shop: { plan: pro, pets: 3, keys: [ci, other], domains: { a.shop.test: , b.shop.test: }, primary: b.shop.test }
  blog: {}
zones:
  shop.test: |
    *  CNAME  cname.vivarium.localhost.
`);
  await using vivarium = await startVivarium({ file });
  const { keys, hostnames } = vivarium.world;
  expect(Object.keys(keys)).toEqual(['shop/ci', 'shop/other']);
  expect(hostnames).toEqual({ blog: ['blog.vivarium.localhost'], shop: ['b.shop.test', 'a.shop.test'] });
  const headers = { authorization: `Bearer ${keys['shop/ci']}` };
  const answer = await vivarium.fetch('https://b.shop.test/v1/pets', { headers });
  expect([answer.status, ((await answer.json()) as unknown[]).length]).toEqual([200, 3]);
  // The namespace has its procedures.
  expect((await vivarium.world.export()).text).toContain('b.shop.test');
});

it('a file with a fault, or none, is refused with its place, and leaves no engine', async () => {
  const file = writeWorld('vivarium: 1\nprojects:\n  shop: { plan: gold }\n');
  await expect(startVivarium({ file })).rejects.toThrow(/projects\.shop\.plan/);
  await expect(startVivarium({ file: 'none.yaml' })).rejects.toThrow('There is no file none.yaml.');
  await expect(startVivarium({ fiel: 'none.yaml' } as object)).rejects.toThrow('Did you mean "file"?');
});

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
