import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { track } from '../../support/engine.ts';
import { startProgram } from '../../support/program.ts';

const CLIENTS = 600;

it.runIf(process.platform === 'linux')(
  'idle connections to the control port leave descriptors to everything else, with 256 of them',
  async () => {
    const program = await startProgram([], { within: ['prlimit', '--nofile=256:256'] });
    const { control, http } = program.runtime;
    for (let count = 0; count < CLIENTS; count++) {
      const socket = connect(Number(new URL(control.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      track(() => void socket.destroy());
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    }
    // The first call loads its modules, the second writes a file.
    await program.call('world.diff', { text: '{"vivarium": 1}' });
    await program.call('snapshots.save', { name: 'one' });
    const statuses = [];
    for (let count = 0; count < 10; count++)
      statuses.push((await fetch(`http://127.0.0.1:${http.port}/`, { headers: { connection: 'close' } })).status);
    expect(statuses).toEqual(Array(10).fill(404));
    expect((await program.end()).code).toBe(0);
  },
);
