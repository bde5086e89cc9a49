import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../../support/program.ts';

const WRITERS = 8;
const ENOUGH = 400;

describe('data acknowledged with 201', () => {
  it('survives kill -9', async () => {
    const program = await startProgram();
    const secret = /viv_\w{32}/.exec(program.output().stdout)?.[0] ?? '';
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    await program.call('projects.update', { projectId: 'demo', plan: 'enterprise', limits });
    const acknowledged = new Map<number, string>();
    let killed = false;

    const post = (name: string) =>
      new Promise<void>((resolve) => {
        const sent = request(
          {
            host: '127.0.0.1',
            port: program.runtime.http.port,
            method: 'POST',
            path: '/v1/pets',
            agent: false,
            headers: {
              host: `demo.vivarium.localhost:${program.runtime.http.port}`,
              authorization: `Bearer ${secret}`,
              'content-type': 'application/json',
            },
          },
          (response) => {
            let text = '';
            response.on('data', (chunk: Buffer) => (text += chunk.toString()));
            response.on('error', () => resolve());
            response.on('end', () => {
              if (response.statusCode === 201) acknowledged.set((JSON.parse(text) as { id: number }).id, name);
              resolve();
            });
          },
        );
        sent.on('error', () => resolve());
        sent.end(JSON.stringify({ name, categoryId: 1 }));
      });

    const writer = async (writerNumber: number) => {
      for (let count = 0; !killed; count++) {
        await post(`pet ${writerNumber}-${count}`);
        if (acknowledged.size >= ENOUGH && !killed) {
          killed = true;
          program.child.kill('SIGKILL');
        }
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)));
    await program.end('SIGKILL');

    const again = await startProgram([], { dataDir: program.dataDir });
    const kept = new Map<number, string>();
    let after: string | undefined;
    do {
      const page = await again.call('pets.list', { projectId: 'demo', limit: 1000, after });
      for (const pet of page.items) kept.set(Number(pet.id), String(pet.name));
      after = page.next;
    } while (after !== undefined);

    expect(acknowledged.size).toBeGreaterThanOrEqual(ENOUGH);
    const lost = [...acknowledged].filter(([id, name]) => kept.get(id) !== name);
    expect(lost).toEqual([]);
  });
});

it('an engine that fails restarts on its data and ports; one that keeps failing ends with the reason', async () => {
  const thrower = `process.on('SIGUSR2', () => { throw new Error('nobody expected this'); });`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}` };
  const { call, child, output, end } = await startProgram(['--empty'], { env });
  const fail = () => child.kill('SIGUSR2');
  const warnings = () =>
    call('status.get').then(
      ({ warnings: given }) => given.join('\n'),
      () => 'it does not answer',
    );
  for (const name of ['one', 'two', 'three']) {
    await call('projects.create', { name });
    const before = await warnings();
    fail();
    const again = /^Vivarium failed at \S+ and was started again\. nobody expected this\./;
    await expect.poll(async () => (await warnings()).replace(before, '')).toMatch(again);
  }
  expect(await call('projects.list')).toHaveLength(3);
  fail();
  const { code } = await end('SIGWINCH');
  expect([code, output().stderr]).toEqual([1, expect.stringContaining('failed more than 3 times within a minute')]);
});
