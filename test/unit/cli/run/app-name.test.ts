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

/** A repository `shop`, and a worktree next to it. */
const worktree = (head: string, extra: Record<string, string> = {}) => ({
  'shop/.git/HEAD': 'ref: refs/heads/main\n',
  'shop/.git/worktrees/wt/HEAD': head,
  'wt/.git': 'gitdir: ../shop/.git/worktrees/wt\n',
  ...extra,
});

describe('the name of the app in a folder', () => {
  test.each([
    ['of its package, without the scope', { 'a/package.json': '{"name":"@acme/site"}' }, 'a', 'site', null],
    ['of the folder', { 'a/index.html': '' }, 'a', 'a', null],
    ['of the folder with a damaged package', { 'a/package.json': '{' }, 'a', 'a', null],
    [
      'of the package in a workspace of a worktree',
      worktree('ref: refs/heads/fix-ui\n', { 'wt/web/package.json': '{"name":"web"}' }),
      'wt/web',
      'web',
      'fix-ui',
    ],
    ['of the repository in its worktree', worktree('ref: refs/heads/fix-ui\n'), 'wt', 'shop', 'fix-ui'],
    ['of a branch with a slash', worktree('ref: refs/heads/feature/Fix_UI\n'), 'wt', 'shop', 'feature-fix-ui'],
    ['of a detached worktree', worktree('4b825dc642cb6eb9a060e54bf8d69288fbee4904\n'), 'wt', 'shop', 'wt'],
    ['of a worktree of the main branch', worktree('ref: refs/heads/main\n'), 'wt', 'shop', null],
    [
      'of a worktree of a bare repository',
      { 'shop.git/worktrees/x/HEAD': 'ref: refs/heads/x\n', 'x/.git': 'gitdir: ../shop.git/worktrees/x' },
      'x',
      'shop',
      'x',
    ],
    [
      'of a submodule',
      { 'shop/.git/modules/lib/HEAD': 'ref: refs/heads/x', 'shop/lib/.git': 'gitdir: ../.git/modules/lib' },
      'shop/lib',
      'lib',
      null,
    ],
  ])('is that %s', async (_what, files, place, name, label) => {
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
