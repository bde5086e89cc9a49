import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';

it('stops everything else if one part cannot be stopped', async () => {
  const engine = await startEngine({ empty: true });
  const { control, http } = engine.app.runtime;
  // A folder in place of the file cannot be removed, even by root.
  const runtimeFile = join(engine.dataDir, 'runtime.json');
  rmSync(runtimeFile);
  mkdirSync(runtimeFile);
  writeFileSync(join(runtimeFile, 'x'), '');
  await engine.app.stop();
  for (const url of [control.url, `http://127.0.0.1:${http.port}`]) await expect(fetch(url)).rejects.toThrow();
  expect(engine.log.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining('stopped') as string });
  rmSync(runtimeFile, { recursive: true });
  await startEngine({ empty: true, dataDir: engine.dataDir });
});
