import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { track } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const FOLDERS = 6;
/** Real milliseconds until both processes are ready. */
const READY_MS = 500;

it('of two processes that claim a folder at the same time, one gets it', async () => {
  const folder = temporaryFolder();
  const child = join(import.meta.dirname, 'claiming-child.ts');
  const claim = (firstMs: number) => {
    const process_ = spawn(process.execPath, [child, folder, String(FOLDERS), String(firstMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    track(() => void process_.kill());
    return new Promise<number[]>((resolve) => {
      process_.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()) as number[]));
    });
  };
  const firstMs = Date.now() + READY_MS;
  const [one, other] = await Promise.all([claim(firstMs), claim(firstMs)]);
  expect([...one, ...other].toSorted((a, b) => a - b)).toEqual(Array.from({ length: FOLDERS }, (_, index) => index));
});
