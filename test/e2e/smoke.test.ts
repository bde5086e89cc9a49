import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DESKTOP_PROGRAM } from '../support/desktop/desktop.ts';
import { ELECTRON } from '../support/desktop/desktop-on-stand-in.ts';
import { PROGRAM } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Two starts of the app, and a dozen commands. */
const SMOKE_MS_MAX = 180_000;

interface Report {
  code: number;
  lines: string[];
  /** The remaining temporary files. */
  left: string[];
}

/** Runs `npm run smoke` with these options. */
async function smoke(args: readonly string[], env: Record<string, string> = {}): Promise<Report> {
  const folder = temporaryFolder();
  const all = { ...process.env, TMPDIR: folder, XDG_CONFIG_HOME: join(folder, 'appData'), ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, ['test/smoke/main.ts', ...args], { cwd: ROOT, env: all }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      const left = readdirSync(folder).filter((name) => name.startsWith('vivarium-'));
      resolve({ code, lines: `${stdout}${stderr}`.split('\n'), left });
    });
  });
}

function install(script: string): string {
  const program = join(temporaryFolder(), 'vivarium-desktop');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return program;
}

/** The app on the stand-in, as if it were installed. */
function installStandIn(): string {
  const env = `ELECTRON_STAND_IN_APP_DATA="$XDG_CONFIG_HOME" ELECTRON_STAND_IN_NODE='${process.execPath}'`;
  return install(`${env} exec '${ELECTRON}' '${DESKTOP_PROGRAM}' "$@"`);
}

const STAND_IN_OPTIONS = ['--page-origin', 'https://vivarium.app.electron.invalid'];

describe.skipIf(process.platform === 'win32')('npm run smoke', { timeout: SMOKE_MS_MAX }, () => {
  it('passes all checks of a working app: its command line, window, servers and preview', async () => {
    const app = installStandIn();
    // With the streams of Windows, except for the command that is refused there.
    const streams = `case $1 in mcp) ;; *) export ELECTRON_STAND_IN_STREAMS=win32 ;; esac`;
    const cli = install(`${streams}; exec ${app} --log-level=3 --command-line -- "$@"`);
    // As a terminal of VS Code may have it.
    const env = { ELECTRON_RUN_AS_NODE: '1' };
    const { code, lines, left } = await smoke(['--app', app, '--cli', cli, ...STAND_IN_OPTIONS], env);
    expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([]);
    expect(lines).toContain('21 of 21 ok');
    expect([code, left]).toEqual([0, []]);
  });

  it('fails with the output of an app that does not start', async () => {
    const app = install(`echo 'No display' >&2; exit 5`);
    const { code, lines, left } = await smoke(['--app', app, '--cli', `${process.execPath} ${PROGRAM}`]);
    expect([code, left]).toEqual([1, []]);
    expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([
      expect.stringMatching(/^FAIL {2}the app starts and serves .*the app has ended: \{"code":5/),
    ]);
    expect(lines).toEqual(expect.arrayContaining(['2 of 3 ok', 'No display']));
  });

  it.each<[what: string, args: string[], message: string]>([
    ['a missing app', ['--app', '/nowhere/vivarium-desktop'], 'There is no /nowhere/vivarium-desktop; '],
    ['an unknown option', ['--apps', 'x'], "Unknown option '--apps'"],
  ])('runs no check with %s', async (_what, args, message) => {
    const { code, lines } = await smoke(args);
    expect([code, lines[0]]).toEqual([2, expect.stringContaining(message)]);
  });
});
