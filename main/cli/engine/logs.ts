import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { sleep } from '../../base/clock.ts';
import { LOGS_FOLDER } from '../../base/system/data-folder.ts';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { logFiles } from '../../base/log.ts';
import { typed } from '../../base/system/own-command.ts';
import { notFound, orElse, VivariumError } from '../../contract/errors.ts';
import { switchOption, usageError, valueOption } from '../words/flags.ts';
import { interruptible, type Io } from '../text/io.ts';
import { localCommand } from '../words/command.ts';
import { printable } from '../text/text.ts';

const FOLLOW_FLAG = { ...switchOption('follow', 'Keep printing new lines until Ctrl-C'), short: 'f' };
const LINES_FLAG = { ...valueOption('lines', 'N', 'The last N lines (default 100)'), short: 'n' };
const DEFAULT_LINES = '100';
const LOOK_MS = 250;

export const LOGS = localCommand({
  name: 'logs',
  title: 'print the log of a Vivarium in the background, or of the desktop app',
  options: [FOLLOW_FLAG, LINES_FLAG],
  notes: [
    'Reads the log in the data folder, also when Vivarium is not running. "start" without -d logs to its terminal.',
  ],
  examples: ['vivarium logs', 'vivarium logs -f -n 20'],
  async run(read, dataDir, io) {
    const wanted = read.last(LINES_FLAG) ?? DEFAULT_LINES;
    if (!/^[0-9]{1,9}$/.test(wanted)) throw usageError(`--lines must be a number, not ${JSON.stringify(wanted)}.`);
    const files = logFiles(join(dataDir, LOGS_FOLDER));
    const texts = files.map(readIfThere);
    if (texts.every((text) => text === null)) {
      throw notFound(
        `There is no log in ${dataDir}. "${typed('vivarium start -d')}" writes one; "start" logs to its terminal.`,
      );
    }
    const lines = texts.join('').split('\n').slice(0, -1);
    write(lines.slice(Math.max(0, lines.length - Number(wanted))), io);
    const current = files.at(-1);
    if (read.isOn(FOLLOW_FLAG) && current !== undefined) {
      await follow(current, Buffer.byteLength(texts.at(-1) ?? ''), io);
    }
  },
});

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new VivariumError('forbidden', `${path} cannot be read (${reasonOf(error)}).`, { cause: error });
  }
}

const write = (lines: readonly string[], io: Io): void =>
  lines.forEach((line) => void io.stdout.write(`${printable(line)}\n`));

/** Prints additions to the file at `path` after `offset`; continues with its successor when it is full. */
function follow(path: string, offset: number, io: Io): Promise<void> {
  return interruptible(io, async (signal, onStream) => {
    onStream();
    let file = openIfThere(path);
    let position = offset;
    let decoder = new StringDecoder('utf8');
    let unfinished = '';
    const buffer = Buffer.alloc(64 * 1024);
    const readOn = () => {
      if (file === null) return;
      for (;;) {
        const count = readSync(file, buffer, 0, buffer.length, position);
        if (count === 0) return;
        position += count;
        const lines = (unfinished + decoder.write(buffer.subarray(0, count))).split('\n');
        unfinished = lines.pop() ?? '';
        write(lines, io);
      }
    };
    while (!signal.aborted) {
      readOn();
      if (file === null || isReplaced(path, file)) {
        readOn();
        if (file !== null) closeSync(file);
        file = openIfThere(path);
        position = 0;
        decoder = new StringDecoder('utf8');
        unfinished = '';
      }
      await sleep(LOOK_MS, signal);
    }
    if (file !== null) closeSync(file);
  });
}

const openIfThere = (path: string): number | null => orElse(() => openSync(path, 'r'), null);

function isReplaced(path: string, file: number): boolean {
  // Between the renaming of the full file and the first line of the next one.
  return orElse(() => statSync(path).ino !== fstatSync(file).ino, false);
}
