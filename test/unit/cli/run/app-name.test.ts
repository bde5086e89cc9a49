import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { placeOf, readAppFolder } from '../../../../main/cli/run/asked-run.ts';

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vivarium-name-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** A repository `shop`, and a worktree next to it, at a branch or a commit. */
const worktree = (head: string, extra: Record<string, string> = {}) => ({
  'shop/.git/HEAD': 'ref: refs/heads/main\n',
  'shop/.git/worktrees/wt/HEAD': `${head}\n`,
  'wt/.git': 'gitdir: ../shop/.git/worktrees/wt\n',
  ...extra,
});
const branch = (name: string) => `ref: refs/heads/${name}`;

describe('the name of the app in a folder', () => {
  test.each<[string, Record<string, string>, string, string, (string | null)?]>([
    ['of its package, without the scope', { 'a/package.json': '{"name":"@acme/site"}' }, 'a', 'site'],
    ['of the folder', { 'a/index.html': '' }, 'a', 'a'],
    ['of the folder with a damaged package', { 'a/package.json': '{' }, 'a', 'a'],
    [
      'of the package in a workspace of a worktree',
      worktree(branch('fix-ui'), { 'wt/web/package.json': '{"name":"web"}' }),
      ...(['wt/web', 'web', 'fix-ui'] as const),
    ],
    ['of the repository in its worktree', worktree(branch('fix-ui')), 'wt', 'shop', 'fix-ui'],
    ['of a branch with a slash', worktree(branch('feature/Fix_UI')), 'wt', 'shop', 'feature-fix-ui'],
    ['of a detached worktree', worktree('4b825dc642cb6eb9a060e54bf8d69288fbee4904'), 'wt', 'shop', 'wt'],
    ['of a worktree of the main branch', worktree(branch('main')), 'wt', 'shop'],
    [
      'of a worktree of a bare repository',
      { 'shop.git/worktrees/x/HEAD': `${branch('x')}\n`, 'x/.git': 'gitdir: ../shop.git/worktrees/x' },
      ...(['x', 'shop', 'x'] as const),
    ],
    [
      'of a submodule',
      { 'shop/.git/modules/lib/HEAD': branch('x'), 'shop/lib/.git': 'gitdir: ../.git/modules/lib' },
      ...(['shop/lib', 'lib'] as const),
    ],
  ])('is that %s', async (_what, files, place, name, label = null) => {
    expect(await readAppFolder(join(folderWith(files), place))).toEqual({ name, worktree: label });
  });

  test.each([
    [undefined, null, { name: 'shop' }],
    [undefined, 'fix-ui', { name: 'fix-ui-shop' }],
    ['api', 'fix-ui', { name: 'fix-ui-api' }],
    ['shop.acme.test', null, { hostname: 'shop.acme.test' }],
    ['shop.acme.test', 'fix-ui', { hostname: 'fix-ui.shop.acme.test' }],
    ['*.acme.test', 'fix-ui', { hostname: '*.fix-ui.acme.test' }],
  ])('with the argument %s in the worktree %s gives %j', (word, label, expected) => {
    expect(placeOf(word, { name: 'shop', worktree: label })).toEqual(expected);
  });
});
