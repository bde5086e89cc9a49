import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runHere, type CommandHereOptions } from '../cli-io.ts';
import { track } from '../engine.ts';

/** Commands that start, find or end processes or engines, or print what this process would print of itself. */
const OF_A_PROCESS = ['doctor', 'examine', 'rehearse', 'run', 'start', 'stop', 'uninstall'];
/** A start without ports, of the Vivarium that runs: it is only shown. */
const SHOWN = 'start -d';

/**
 * A line of shell that runs one `vivarium` command in this process, which takes a tenth of a program's start; those that
 * are about processes run `program`.
 * @param folder for the socket and the outputs
 */
export async function residentCommand(
  folder: string,
  program: string,
  options: Pick<CommandHereOptions, 'env' | 'homeDir'>,
): Promise<string> {
  const [socket, out, err] = ['command', 'out', 'err'].map((name) => join(folder, name)) as [string, string, string];
  const server = createServer(async (request, response) => {
    const [cwd = '', dataDir = '', ...args] = (await text(request)).split('\0').slice(0, -1);
    const env = { ...options.env, VIVARIUM_DATA_DIR: dataDir };
    const { code, stdout, stderr } = await runHere(args, { ...options, env, cwd });
    writeFileSync(out, stdout);
    writeFileSync(err, stderr);
    response.end(String(code));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  track(() => void server.close());
  const asked = `curl -s --noproxy '*' --unix-socket '${socket}' --data-binary @- http://localhost/`;
  return [
    `case "$*$VIVARIUM_HTTP_PORT" in '${SHOWN}') ;; *) case $1 in ${OF_A_PROCESS.join('|')}) ${program} ;; esac ;; esac`,
    String.raw`code=$(printf '%s\0' "$PWD" "$VIVARIUM_DATA_DIR" "$@" | ${asked})`,
    `cat '${out}'; cat '${err}' >&2; exit "$code"`,
  ].join('\n');
}
