import { expect, test } from 'vitest';
import { createClock } from '../../../../main/base/clock.ts';
import { type Command, createRunCommand } from '../../../../main/ca/stores/run-command.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

const environment = { PATH: process.env.PATH, SECRET: 'kept' };
const run = createRunCommand({ clock: createClock(), environment });
const command = (name: string, ...args: string[]): Command => ({
  command: name,
  args,
  needsPassword: false,
  explains: 'is tried',
});
const node = (script: string) => command(process.execPath, '-e', script);

test('returns exit code, output and errors separately', async () => {
  const script = 'process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3;';
  expect(await run(node(script))).toEqual({ exitCode: 3, stdout: 'out', stderr: 'err' });
});

test('passes arguments unchanged, without a shell', async () => {
  expect(await run(command('printf', '%s|', '$HOME', 'a b', ';ls'))).toMatchObject({ stdout: '$HOME|a b|;ls|' });
});

test('names the missing command', async () => {
  await expect(run(command('/nowhere/certutil'))).rejects.toThrow(
    /^The command \/nowhere\/certutil, which is tried, could not be run \(spawn .* ENOENT\)\.$/,
  );
});

test('ends a command that prompts on the terminal, which it does not have', async () => {
  const result = await run(command('sh', '-c', 'read answer < /dev/tty && echo "$answer"'));
  expect(result).toMatchObject({ stdout: '' });
  expect(result.exitCode).not.toBe(0);
});

test('ends a command with endless output', async () => {
  await expect(run(command('yes'))).rejects.toThrow(/printed more than 8388608 bytes/);
});

test('ends a command that takes too long, and all of its child processes', async () => {
  const timers: (() => void)[] = [];
  const clock = createFakeClock();
  const impatient = createRunCommand({
    clock: {
      realTimer(delayMs, callback) {
        expect(delayMs).toBe(15_000);
        timers.push(callback);
        return clock.at(Number.MAX_SAFE_INTEGER, () => undefined);
      },
    },
    environment,
  });
  const running = impatient(command('sh', '-c', 'sleep 1000 & wait'));
  timers[0]?.();
  await expect(running).rejects.toThrow('took longer than 15 seconds');
});
