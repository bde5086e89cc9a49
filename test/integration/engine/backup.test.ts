import { tmpdir } from 'node:os';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { typed } from '../../../main/base/system/own-command.ts';
import { BACKUP } from '../../../main/cli/world/backup.ts';
import { commandHere } from '../../support/cli-io.ts';
import { startEngine } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Runs `vivarium backup …` in a folder. */
async function backup(workingDir: string, ...args: string[]) {
  const { io, printed } = commandHere({ cwd: workingDir });
  const code = await BACKUP.run(args, io);
  return { ...printed, code };
}

describe('vivarium backup', () => {
  it('leaves no new folder if it restores nothing', async () => {
    const folder = temporaryFolder();
    const dataDir = join(folder, 'new');
    expect((await backup(folder, 'restore', 'none.db', '--data-dir', dataDir)).code).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)('reports that it has to lock a read-only folder', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'vivarium.db'), '');
    chmodSync(folder, 0o500);
    const { code, stderr } = await backup(tmpdir(), 'create', 'x.db', '--data-dir', folder);
    chmodSync(folder, 0o700);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${folder} can't be locked for the backup (permission denied)`),
    ]);
  });

  it('includes a running Vivarium, and restores it unchanged', async () => {
    const engine = await startEngine();
    const folder = temporaryFolder();
    const { dataDir } = engine;
    const project = await engine.call('projects.create', { name: 'Kept' });
    const demoKey = engine.app.demoKey();
    const root = readFileSync(join(dataDir, 'ca', 'root.pem'), 'utf8');

    const created = await backup(folder, 'create', 'mine.db', '--data-dir', dataDir);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(created.stdout).toMatch(/mine\.db \(\d+ KiB\)\. It holds the root’s private key: keep it as secret/);
    expect(created.stdout.endsWith(` restore ${join(folder, 'mine.db')} --data-dir ${dataDir}\n`)).toBe(true);
    expect(statSync(join(folder, 'mine.db')).mode & 0o777).toBe(0o600);
    expect(await backup(folder, 'create', 'mine.db', '--data-dir', dataDir)).toMatchObject({
      code: 1,
      stderr: `vivarium: ${join(folder, 'mine.db')} exists; choose another name, or replace it with --force.\n`,
    });

    await engine.call('projects.remove', { projectId: project.id });
    const refused = await backup(folder, 'restore', 'mine.db', '--data-dir', dataDir);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/Vivarium is running on .*; nothing was changed\. Stop it first: .*stop --data-dir/);
    await engine.stop();

    expect((await backup(folder, 'restore', 'mine.db', '--data-dir', dataDir)).stdout).toBe(
      `Restored into ${dataDir}.\nThe previous content is in ${join(dataDir, 'backups', 'set-aside-1')}.\n`,
    );
    const again = await startEngine({ dataDir });
    expect(await again.call('projects.get', { projectId: project.id })).toMatchObject({ name: 'Kept' });
    expect(again.app.demoKey()).toEqual(demoKey);
    expect((await again.api()).status).toBe(200);
    expect(readFileSync(join(dataDir, 'ca', 'root.pem'), 'utf8')).toBe(root);
  });

  it('moves a stopped Vivarium to another folder, and reports that the root there was another one', async () => {
    const from = await startEngine();
    const to = await startEngine();
    const demoKey = from.app.demoKey();
    await from.stop();
    await to.stop();
    const folder = temporaryFolder();
    const created = await backup(folder, 'create', './b.db', '--json', '--data-dir', from.dataDir);
    expect(JSON.parse(created.stdout)).toMatchObject({ file: join(folder, 'b.db'), sealed: false });
    expect((await backup(folder, 'restore', 'b.db', '--data-dir', to.dataDir)).stdout).toContain(
      `The root has changed: trust the new one with "${typed('vivarium ca trust')}".\n`,
    );
    const moved = await startEngine({ dataDir: to.dataDir });
    expect(moved.app.demoKey()).toEqual(demoKey);
  });

  it.each([
    [['create'], /Name a file, such as ".*vivarium (?:-- )?backup create vivarium-backup\.db"/],
    [['make', 'x'], /backup has no "make"; there are create and restore/],
    [['create', 'x', 'y'], /Unexpected argument "y"/],
    [['create', 'x'], /There is no Vivarium database in /],
    [['restore', 'x'], /There is no file .*x\./],
  ])('%j is refused', async (args, says) => {
    const folder = temporaryFolder();
    const { code, stderr } = await backup(folder, ...args, '--data-dir', join(folder, 'data'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});

describe('backup.create', () => {
  it('accepts only absolute paths, and replaces only a backup', async () => {
    const engine = await startEngine();
    const file = join(temporaryFolder(), 'notes.txt');
    writeFileSync(file, 'of the user');
    await expect(engine.call('backup.create', { file: 'relative.db' })).rejects.toThrow(/Give an absolute path/);
    await expect(engine.call('backup.create', { file, force: true })).rejects.toThrow(/is not a Vivarium backup/);
    expect(readFileSync(file, 'utf8')).toBe('of the user');
  });

  it('is refused by an ephemeral Vivarium', async () => {
    const engine = await startEngine({ ephemeral: true });
    const file = join(temporaryFolder(), 'b.db');
    await expect(engine.call('backup.create', { file })).rejects.toThrow(/ephemeral Vivarium stores nothing/);
  });
});
