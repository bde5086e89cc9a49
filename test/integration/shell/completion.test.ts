import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../support/ports.ts';
import { openTerminal, type ShellName } from '../../support/documents/pasting.ts';
import { runHere } from '../../support/cli-io.ts';
import { PROGRAM } from '../../support/program.ts';
import { runCli, startFakeEngine, writeRuntime } from '../../support/rpc/rpc-cli.ts';
import { SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';
import { requireTool } from '../../support/tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execute as run } from '../../support/command.ts';

const INSTALL: Partial<Record<ShellName, string>> = {
  bash: 'source <(vivarium completion bash)',
  zsh: 'autoload -Uz compinit; compinit -D -u; source <(vivarium completion zsh)',
  fish: 'vivarium completion fish | source',
};

/** A `vivarium` on the PATH that completes like the real one, and otherwise writes its arguments into a file. */
function makeCommand(): { folder: string; words: () => string[] } {
  const folder = temporaryFolder();
  const said = join(folder, 'words');
  const real = `exec '${process.execPath}' '${PROGRAM}' "$@"`;
  writeFileSync(
    join(folder, 'vivarium'),
    `#!/bin/sh\ncase $1 in comple*) ${real} ;; esac\nprintf '%s\\n' "$@" > '${said}'\n`,
  );
  chmodSync(join(folder, 'vivarium'), 0o755);
  return { folder, words: () => (existsSync(said) ? readFileSync(said, 'utf8').trimEnd().split('\n') : []) };
}

/** A running Vivarium with two projects, and a key whose name has a colon and blanks beside a revoked one. */
async function startNamed(): Promise<string> {
  const { fake, dataDir } = await startFakeEngine();
  fake.stub('projects', 'list', () => [
    { ...SAMPLE_PROJECT, id: 'prj_1', slug: 'aquarium' },
    { ...SAMPLE_PROJECT, id: 'prj_2', slug: 'shop' },
  ]);
  const createdAt = '2026-11-20T09:00:00.000Z';
  const keyOf = (name: string) => ({
    ...{ id: 'key_1', name, prefix: 'viv_abcd', createdAt },
    ...(name === 'CI: old' && { revokedAt: createdAt }),
  });
  fake.stub('keys', 'list', ({ projectId }) =>
    projectId === 'aquarium' ? ['CI: night build', 'CI: old'].map(keyOf) : [],
  );
  return dataDir;
}

const TYPED: readonly (readonly [keys: string, words: readonly string[]])[] = [
  ['vivarium projec\tge\taq\t', ['project', 'get', 'aquarium']],
  ['vivarium pet list --stat\tav\t', ['pet', 'list', '--status', 'available']],
  ['vivarium key revoke C\t', ['key', 'revoke', 'CI: night build']],
  ['vivarium key revoke "CI: n\t', ['key', 'revoke', 'CI: night build']],
];

it.each(['bash', 'zsh', 'fish'] as const)('commands, options and names are completed in %s', async (shell) => {
  const command = makeCommand();
  const dataDir = await startNamed();
  const terminal = await openTerminal(shell, {
    bracketed: false,
    folder: command.folder,
    env: {
      PATH: `${command.folder}:${process.env['PATH'] ?? ''}`,
      // Removed after the file: a shell that loses its terminal still writes its history there.
      HOME: mkdtempSync(join(tmpdir(), 'home-')),
      VIVARIUM_DATA_DIR: dataDir,
    },
  });
  onTestFinished(() => terminal.end());
  await terminal.paste(INSTALL[shell] ?? '');
  for (const [keys, words] of TYPED) {
    await terminal.paste(keys);
    expect(command.words()).toEqual(words);
  }
});

it('completes after a colon in bash, which treats that as a separate word', async () => {
  requireTool('bash');
  const command = makeCommand();
  const env = { PATH: `${command.folder}:${process.env['PATH'] ?? ''}`, VIVARIUM_DATA_DIR: await startNamed() };
  const line = 'vivarium key revoke CI:';
  const script = `${INSTALL.bash ?? ''}
    COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(vivarium key revoke CI :) COMP_CWORD=4
    _vivarium; printf '%s\\n' "\${COMPREPLY[@]}"`;
  expect((await run('bash', ['-c', script], { env })).stdout).toBe('\\ night\\ build\n');
});

describe('the candidates', () => {
  it('are shown without a running Vivarium, except its names', async () => {
    const env = { VIVARIUM_DATA_DIR: temporaryFolder() };
    expect(await runCli(['complete', '--', 'projects', 'ge'], { env })).toMatchObject({
      code: 0,
      stdout: 'get\tOne project\n',
      stderr: '',
    });
    expect(await runCli(['complete', '--', 'projects', 'get', ''], { env })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it.each([
    ['projects\tge', 'get\tOne project\n'],
    ['projects\tget\t', 'aquarium\tAquarium, pro\nshop\tAquarium, pro\n'],
    ['keys\trevoke\tCI: n', 'CI: night build\taquarium\n'],
    ['--json\tdoc', 'doctor\tCheck the environment and suggest fixes\n'],
    ['run\t--help\t--\tnp', ':files\n'],
    ['pets\tlist\t--help\t--stat', '--status\t'],
    ['nonsense\t', ''],
  ])('of PowerShell’s words, which are one argument: %j', async (words, lines) => {
    const env = { VIVARIUM_DATA_DIR: await startNamed() };
    const { stdout, stderr } = await runHere(['complete', `--powershell=${words}`], { env });
    expect([stdout.slice(0, lines.length || undefined), stderr]).toEqual([lines, '']);
  });

  it('are asked for by the script for PowerShell, which quotes words that it could take apart', async () => {
    expect((await runHere(['completion', 'powershell'])).stdout).toMatch(
      /^Register-ArgumentCompleter -Native -CommandName vivarium [^]*vivarium complete "--powershell=\$words"[^]*\.Replace\("'", "''"\)[^]*\n}\n$/,
    );
  });

  it('do not wait for a Vivarium that does not answer', async () => {
    const { port } = await listen(createServer(() => undefined));
    const dataDir = temporaryFolder();
    writeRuntime(dataDir, { url: `http://127.0.0.1:${port}` });
    const words = ['complete', '--', 'pets', 'import', '--data-dir', dataDir, ''];
    expect(await runCli(words)).toEqual({ code: 0, stdout: 'json\ncsv\n', stderr: '' });
  });

  it.each([[['complete']], [['complete', '--', 'nonsense', 'x', '']], [['complete', '--bash']], [['complete', '--x']]])(
    'for %j are empty, without an error message',
    async (words) => {
      expect(await runCli(words)).toMatchObject({ code: 0, stderr: '' });
    },
  );
});
