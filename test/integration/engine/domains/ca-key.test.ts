import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEngine, type Engine } from '../../../support/engine.ts';
import { createFakeSealer } from '../../../support/fake-sealer.ts';

const rootOf = async (engine: Engine) => await engine.call('ca.get');
const keyFile = (engine: Engine) => join(engine.dataDir, 'ca', 'root-key.pem');

describe('the setting caKey', () => {
  it('seals the root’s key, which still signs, across a restart, and unseals it', async () => {
    const sealer = createFakeSealer();
    const first = await startEngine({}, { sealer });
    const { fingerprint, key } = await rootOf(first);
    expect(key).toMatchObject({ storage: 'file', sealable: true });
    expect(await first.call('settings.update', { caKey: 'keyring' })).toMatchObject({ caKey: 'keyring' });
    expect([existsSync(keyFile(first)), (await rootOf(first)).key.storage]).toEqual([false, 'keyring']);
    await first.stop();

    const second = await startEngine({ dataDir: first.dataDir }, { sealer });
    expect((await rootOf(second)).fingerprint).toBe(fingerprint);
    expect(await second.call('settings.get')).toMatchObject({ caKey: 'keyring' });
    await second.call('ca.extend', { suffix: 'corp' });
    await second.call('settings.update', { caKey: 'file' });
    expect(existsSync(keyFile(second))).toBe(true);
  });

  it('cannot be changed headless, and the error names what can change it', async () => {
    const engine = await startEngine();
    await expect(engine.call('settings.update', { caKey: 'keyring' })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The root’s key stays in its file: Only the desktop app can seal it with the system’s keyring.',
    });
    expect(await engine.call('settings.get')).toMatchObject({ caKey: 'file' });
  });

  it('prevents a headless start with a sealed root, and the error tells what to do', async () => {
    const engine = await startEngine({}, { sealer: createFakeSealer() });
    await engine.call('settings.update', { caKey: 'keyring' });
    await engine.stop();
    await expect(startEngine({ dataDir: engine.dataDir })).rejects.toThrow(
      /Start the desktop app instead, or set caKey/,
    );
  });

  it('follows the file on disk, if that was restored from elsewhere', async () => {
    const sealer = createFakeSealer();
    const engine = await startEngine({}, { sealer });
    await engine.app.services.settings.update({ caKey: 'keyring' }, { signal: undefined });
    await engine.stop();
    const { text } = await sealer.open(readFileSync(join(engine.dataDir, 'ca', 'root-key.sealed')));
    writeFileSync(keyFile(engine), text, { mode: 0o600 });
    const again = await startEngine({ dataDir: engine.dataDir }, { sealer });
    expect(await again.call('settings.get')).toMatchObject({ caKey: 'file' });
  });
});
