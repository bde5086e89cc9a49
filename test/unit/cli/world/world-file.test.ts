import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ZONE_TEXT_MAX } from '../../../../main/contract/zones.ts';
import { runHere } from '../../../support/cli-io.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SECRET = 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI';
const ZONE = '@ A 127.0.0.1\n';

/** What `up` and `diff` look for before they read the file; nothing listens there. */
const STOPPED = { pid: process.pid, control: { url: 'http://127.0.0.1:9', token: 'x' } };

/** A folder with a vivarium.yaml, a folder beside it and one below it. */
function makeFolders(named: string): { repo: string; beside: string } {
  const top = realpathSync(temporaryFolder());
  const [repo, beside] = [join(top, 'repo'), join(top, 'repository')];
  for (const folder of [repo, beside, join(repo, 'zones'), join(repo, 'data')]) mkdirSync(folder);
  writeFileSync(join(repo, 'data', 'runtime.json'), JSON.stringify(STOPPED));
  writeFileSync(join(beside, 'secret'), SECRET);
  writeFileSync(join(beside, 'zone'), ZONE);
  for (const place of ['zone', 'zones/zone']) writeFileSync(join(repo, place), ZONE);
  writeFileSync(join(repo, 'vivarium.yaml'), `vivarium: 1\nzones: { z.test: { file: ${JSON.stringify(named)} } }\n`);
  return { repo, beside };
}

const COMMANDS = {
  check: ['check'],
  'up --check': ['up', '--check'],
  up: ['up'],
  diff: ['diff'],
  'up --dry-run': ['up', '--dry-run'],
  run: ['run'],
  rehearse: ['rehearse', 'vivarium.yaml'],
};

describe.each(Object.entries(COMMANDS))('a vivarium.yaml that %s reads', (command, words) => {
  const run = (repo: string, ...options: string[]) => {
    const [first = '', ...rest] = words;
    const at = first === 'rehearse' ? [] : ['--data-dir', join(repo, 'data')];
    return runHere([first, ...options, ...rest, ...at], { cwd: repo });
  };

  it.each([
    ['a path above it', '../repository/secret'],
    ['an absolute path', '/proc/self/environ'],
    ['a link', 'link'],
    ['a path through a link', 'linked/secret'],
  ])('names no file outside its folder: %s', async (_what, named) => {
    const { repo, beside } = makeFolders(named);
    symlinkSync(join(beside, 'secret'), join(repo, 'link'));
    symlinkSync(beside, join(repo, 'linked'));
    const { code, stdout, stderr } = await run(repo);
    expect([code, stdout]).toEqual([command === 'rehearse' ? 2 : 1, '']);
    expect(stderr).toContain(
      `vivarium.yaml names "${named}", which is not in or below its folder. To allow another folder: --allow DIR`,
    );
    expect(stderr).not.toContain('wJalr');
  });

  it('names files of an allowed folder, also through a link', async () => {
    const { repo, beside } = makeFolders('link');
    symlinkSync(join(beside, 'zone'), join(repo, 'link'));
    for (const allowed of ['../repository', beside]) {
      const { stderr } = await run(repo, '--allow', allowed);
      expect(stderr).not.toContain('names "link"');
    }
    expect((await run(repo, '--allow', '../none')).stderr).toMatch(/There is no file .*\/none\./);
  });

  it.each(['pipe', 'folder', 'device'])('does not read what is no file: a %s', async (kind) => {
    const { repo } = makeFolders('special');
    const special = join(repo, 'special');
    if (kind === 'pipe') execFileSync('mkfifo', [special]);
    else if (kind === 'folder') mkdirSync(special);
    else symlinkSync('/dev/zero', special);
    const { stderr } = await run(repo, '--allow', '/dev');
    expect(stderr).toContain('vivarium.yaml names "special", which is not a file of at most');
  });
});

describe('vivarium check', () => {
  it('reads a file of 16 MiB, and no larger one', async () => {
    const { repo } = makeFolders('zone');
    for (const more of [0, 1]) {
      writeFileSync(join(repo, 'zone'), ZONE.padEnd(ZONE_TEXT_MAX + more, `;${' '.repeat(1_000)}\n`));
      expect(await runHere(['check'], { cwd: repo })).toMatchObject({ code: more });
    }
  });

  it.each(['zone', './zone', 'zones/zone', '../repo/zone'])(
    'reads a file in or below its folder: %s',
    async (named) => {
      const { repo } = makeFolders(named);
      expect(await runHere(['check'], { cwd: repo })).toMatchObject({ code: 0, stdout: 'vivarium.yaml is valid.\n' });
    },
  );

  it.each([
    ['zone', `${SECRET}\n`],
    ['zone', `a ${SECRET} b "${SECRET}"\n`],
    ['zone', `a A ${SECRET}"${SECRET}\n`],
    ['zone', `$${SECRET} 1\n`],
    ['zone', `${SECRET}. A 127.0.0.1\n`],
    ['zone', `a CAA 0 ${SECRET} x\n`],
    ['zone', `a TXT "\\${SECRET}\n`],
    ['pets', SECRET],
    ['pets', `[{"name": "${SECRET}"`],
    ['pets', `[{"${SECRET}": 1, "name": "", "categoryId": "${SECRET}", "status": "${SECRET}"}]`],
  ])('says what is wrong with a %s file and quotes nothing of it: %s', async (kind, text) => {
    const { repo } = makeFolders('named');
    writeFileSync(join(repo, 'named'), text);
    if (kind === 'pets') writeFileSync(join(repo, 'vivarium.yaml'), 'vivarium: 1\nprojects: { a: { pets: named } }\n');
    const { code, stdout } = await runHere(['check'], { cwd: repo });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^vivarium\.yaml:2:\d+: (projects|zones)\./)]);
    expect(stdout.toUpperCase()).not.toContain('SECRET');
  });
});
