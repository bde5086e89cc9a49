import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { track } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const APP_PROCESS = join(import.meta.dirname, '..', '..', '..', 'main', 'cli', 'run', 'app-process.ts');

/** Windows' shell as far as the watcher uses it: `set /p` waits for a line or the end, and `taskkill` is written down. */
const CMD = `#!/bin/sh
log=$(dirname "$0")/log
echo "began $2" >> "$log"
read -r line
[ -n "$line" ] && printf 'told %s' "$line" >> "$log" && exit
echo "\${2##*defined vivarium_ended }" >> "$log"
`;

/** Runs \`command\` as \`vivarium run\` does on Windows, in a process of its own. */
function startRun(...command: string[]) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'cmd.exe'), CMD);
  chmodSync(join(folder, 'cmd.exe'), 0o755);
  const program = `
    import { startApp } from ${JSON.stringify(APP_PROCESS)};
    const app = await startApp(${JSON.stringify(command)}, process.env, { platform: 'win32', workingDir: '/' });
    await app.exited;
  `;
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH ?? ''}` };
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  track(() => void child.kill('SIGKILL'));
  const log = () => (existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').split('\n') : []);
  return { child, log };
}

describe.runIf(process.platform !== 'win32')('a command of "vivarium run" on Windows', () => {
  it('is killed with its descendants by the system’s shell when "vivarium run" is killed', async () => {
    const { child, log } = startRun('sleep', '5');
    await expect.poll(() => log()[0]).toMatch(/^began set \/p /);
    child.kill('SIGKILL');
    await expect.poll(() => log()[1]).toMatch(/^taskkill \/pid \d+ \/t \/f$/);
  });

  it('has no watcher any more once it has ended, because its id may be another process’s by then', async () => {
    const { child, log } = startRun('true');
    await once(child, 'exit');
    await expect.poll(() => log().slice(1)).toEqual(['told ended\r']);
  });
});
