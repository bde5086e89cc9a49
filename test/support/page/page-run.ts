import { expect } from 'vitest';
import { type Engine, track } from '../engine.ts';

/** Holds a run, as `vivarium run dash.acme.test -- node server.mjs` does, and maps it to `url`. */
export async function holdRun(engine: Engine, url: string): Promise<AbortController> {
  const { url: control, token } = engine.app.runtime.control;
  const lease = new AbortController();
  track(() => lease.abort());
  const input = {
    hostname: 'dash.acme.test',
    pid: process.pid,
    folder: '/home/me/dash',
    command: 'node server.mjs',
    asked: 'dash.acme.test -- node server.mjs',
  };
  const response = await fetch(`${control}/api/runs/hold`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal: lease.signal,
  });
  expect(response.status).toBe(200);
  // An answer that nothing reads is cancelled when its object is collected, which would end the run.
  void response.text().catch(() => undefined);
  const [held] = (await engine.call('runs.list')) as { id: string }[];
  await engine.call('runs.map', { id: held?.id, url });
  return lease;
}
