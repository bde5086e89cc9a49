import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const CHILD = join(import.meta.dirname, '..', '..', '..', '..', 'main', 'cli', 'launch', 'child.mjs');

/** Watches its parent, waits for another one, and says what the next check finds. */
const WATCHING = `
  const parent = process.ppid;
  let check = () => {};
  globalThis.setInterval = (callback) => ((check = callback), setTimeout(() => {}, 0));
  const { whenOrphaned } = await import(${JSON.stringify(CHILD)});
  let found = 'goes on';
  whenOrphaned(() => (found = 'stops'));
  console.log('watching');
  while (process.ppid === parent) await new Promise((resolve) => setImmediate(resolve));
  check();
  console.log(found);
`;

it.skipIf(process.platform === 'win32').each([
  ['npm', { npm_lifecycle_event: 'start' }, 'stops'],
  ['a shell', {}, 'goes on'],
])('a program that %s started (%j) %s when that ends', async (_what, npm, expected) => {
  const { npm_lifecycle_event: _outer, ...env } = process.env;
  const shell = spawn('/bin/sh', ['-c', '"$0" --input-type=module -e "$1" & read ended', process.execPath, WATCHING], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...env, ...npm },
  });
  let text = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    // The shell ends, and its child gets another parent.
    if (text === 'watching\n') shell.stdin.end();
  });
  await new Promise((resolve) => shell.stdout.once('close', resolve));
  expect(text).toBe(`watching\n${expected}\n`);
});
