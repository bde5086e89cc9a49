import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../../main/base/version.ts';
import { CLI_MAIN, finished, runCli, startAsked, startCli, temporaryFolder } from '../../support/rpc-cli.ts';
import { SAMPLE_PET, SAMPLE_PROJECT } from '../../support/rpc-fake-services.ts';
import { countingStream } from '../../support/rpc-streams.ts';

describe('vivarium <namespace> <procedure>', () => {
  it('shows a table, without colours where nobody looks', async () => {
    const { fake, dataDir } = await startAsked();
    fake.teach('pets', 'list', () => ({ items: [SAMPLE_PET, { ...SAMPLE_PET, id: '10', name: 'Bo' }], total: 2 }));
    const { code, stdout, stderr } = await runCli(['pets', 'list', 'prj_1', '--limit', '5', '--data-dir', dataDir]);
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      'id  name  categoryId  status\n7   Ada   3           available\n10  Bo    3           available\n\ntotal  2\n',
    ]);
    expect(fake.calls).toEqual([
      {
        procedure: 'pets.list',
        input: { projectId: 'prj_1', environment: 'production', sort: 'id', descending: false, before: 0, limit: 5 },
      },
    ]);
  });

  it('shows JSON with --json, before the command or after it', async () => {
    const { fake, dataDir } = await startAsked();
    fake.teach('projects', 'list', () => [SAMPLE_PROJECT]);
    for (const args of [
      ['projects', 'list', '--json'],
      ['--json', 'projects', 'list'],
    ]) {
      const { stdout } = await runCli([...args, '--data-dir', dataDir]);
      expect(JSON.parse(stdout)).toEqual([SAMPLE_PROJECT]);
    }
  });

  it('gives a file as it is, and writes it where --output says', async () => {
    const { fake, dataDir } = await startAsked();
    const octets = Buffer.from([0x30, 0x82, 0x00, 0xff, 0x0a]);
    fake.teach('ca', 'export', () => ({ format: 'der', fileName: 'root.der', base64: octets.toString('base64') }));
    fake.teach('zones', 'export', () => ({ text: '$ORIGIN acme.test.\n' }));
    const { stdout } = await runCli(['zones', 'export', 'acme.test', '--data-dir', dataDir]);
    expect(stdout).toBe('$ORIGIN acme.test.\n');
    const file = join(temporaryFolder(), 'root.der');
    const written = await runCli(['ca', 'export', '--format', 'der', '--output', file, '--data-dir', dataDir]);
    expect(written).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(file)).toEqual(octets);
    const wrong = await runCli(['ca', 'export', '--output', join(file, 'x'), '--data-dir', dataDir]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('cannot be written (ENOTDIR)')]);
  });

  it('reads a long text from a file, and from standard input', async () => {
    const { fake, dataDir } = await startAsked();
    fake.teach('pets', 'import', () => ({ created: 1, rejected: [], rejectedTotal: 0 }));
    const file = join(temporaryFolder(), 'pets.csv');
    writeFileSync(file, 'name,categoryId\nAda,3\n');
    const command = ['pets', 'import', '--project-id', 'p', '--format', 'csv', '--data-dir', dataDir, '--text-file'];
    await runCli([...command, file]);
    await runCli([...command, '-'], { stdin: 'from stdin' });
    expect(fake.calls.map(({ input }) => (input as { text: string }).text)).toEqual([
      'name,categoryId\nAda,3\n',
      'from stdin',
    ]);
    const missing = await runCli([...command, `${file}.missing`]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('cannot be read (ENOENT)')]);
  });

  it.each([
    [['pets', 'list'], 1, 'vivarium: --project-id is required: a string. See "vivarium pets list --help".\n'],
    [
      ['pets', 'list', 'p', '--lmit', '5'],
      1,
      'vivarium: There is no option --lmit. Did you mean "--limit"? See "vivarium pets list --help".\n',
    ],
    [
      ['pets', 'lst'],
      1,
      'vivarium: pets has no procedure "lst". Did you mean "list"? There are list, get, create, update, remove, clear, import, seed.\n',
    ],
    [['pet', 'list'], 1, 'vivarium: There is no command "pet". Did you mean "pets"? "vivarium help" lists them all.\n'],
    [['pet'], 1, 'vivarium: There is no command "pet". Did you mean "pets"? "vivarium help" lists them all.\n'],
    [['help', 'pet'], 1, 'vivarium: There is no command "pet". Did you mean "pets"? "vivarium help" lists them all.\n'],
    [['--nonsense'], 1, 'vivarium: There is no command "--nonsense"; "vivarium help" lists them all.\n'],
  ])('%j is answered with one line', async (args, code, line) => {
    expect(await runCli(args)).toEqual({ code, stdout: '', stderr: line });
  });

  it('tells what the other side refuses, in one line or in JSON', async () => {
    const { dataDir } = await startAsked();
    const told = await runCli(['projects', 'list', '--data-dir', dataDir]);
    expect([told.code, told.stderr]).toEqual([1, 'vivarium: Vivarium failed; its log has the reason.\n']);
    const json = await runCli(['projects', 'list', '--json', '--data-dir', dataDir]);
    expect(JSON.parse(json.stderr)).toEqual({
      code: 'internal_error',
      message: 'Vivarium failed; its log has the reason.',
    });
  });

  it('exits 2 when none is running', async () => {
    const { code, stderr } = await runCli(['projects', 'list', '--data-dir', temporaryFolder()]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^vivarium: No Vivarium is running on .*\n$/)]);
  });

  it('watches events line by line until it is interrupted', async () => {
    const { fake, dataDir } = await startAsked();
    fake.teach('events', 'watch', countingStream({ pauseAfter: 2 }).open);
    const child = startCli(['events', 'watch', '--data-dir', dataDir]);
    const result = finished(child);
    let seen = '';
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (chunk: string) => {
        seen += chunk;
        if (seen.split('\n').length > 2) resolve();
      });
    });
    child.kill('SIGINT');
    expect(await result).toEqual({
      code: 0,
      stdout:
        '2026-11-20T09:00:00.000Z  pets.changed  projectId=1\n2026-11-20T09:00:00.000Z  pets.changed  projectId=2\n',
      stderr: '',
    });
  });

  it('ends quietly when its reader has heard enough', async () => {
    const { fake, dataDir } = await startAsked();
    fake.teach('events', 'watch', countingStream({}).open);
    const shell = spawn('sh', [
      '-c',
      '"$0" "$1" events watch --data-dir "$2" | head -n 1',
      process.execPath,
      CLI_MAIN,
      dataDir,
    ]);
    onTestFinished(() => void shell.kill());
    const { code, stdout, stderr } = await finished(shell);
    expect([code, stdout.split('\n').length, stderr]).toEqual([0, 2, '']);
  });
});

describe('vivarium', () => {
  it.each([[[]], [['help']], [['--help']], [['-h']]])('%j shows what there is', async (args) => {
    const { code, stdout } = await runCli(args);
    expect(code).toBe(0);
    expect(stdout).toContain('vivarium call <namespace.procedure>');
  });

  it.each([
    [['help', 'serve'], '--control-port PORT'],
    [['serve', '--help'], 'VIVARIUM_CONTROL_PORT'],
    [['help', 'call'], 'Exit codes'],
    [['pets'], 'Procedures\n'],
    [['pets', '--help'], 'Procedures\n'],
    [['help', 'pets', 'create'], '--category-id'],
    [['pets', 'create', '--help'], '--category-id'],
    [['pets', 'create', '-h', '--data-dir', '/nonexistent'], '--category-id'],
  ])('%j shows help', async (args, part) => {
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(part);
  });

  it.each(['--version', '-V', 'version'])('%s says which one it is', async (arg) => {
    expect(await runCli([arg])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });

  it.each([
    [
      ['serve', '--http-prot', '1'],
      /^vivarium serve: There is no option --http-prot\. Did you mean "--http-port".*\n$/,
    ],
    [['serve', '--http-port', '99999'], /^vivarium serve: --http-port must be a port .*\n$/],
    [['serve', 'now'], /^vivarium serve: serve takes options only, not "now"\.\n$/],
  ])('%j is refused with one line before anything starts', async (args, line) => {
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(line)]);
  });
});
