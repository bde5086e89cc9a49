import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createRoot, type Root } from '../../../main/ca/root.ts';
import { launchChromium } from '../../support/chromium.ts';
import { run } from '../../support/command.ts';
import { startHttpsServer } from './https-server.ts';
import { createRogueLeaf, type RogueName } from './rogue-leaf.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = createRoot({ realNowMs: createClock().state().realNow, owner: 'anna@laptop' });

/** A home folder whose NSS database (the one that Chromium reads on Linux) trusts only `trusted`. */
async function homeTrusting(trusted: Root): Promise<string> {
  const home = temporaryFolder();
  const database = join(home, '.pki/nssdb');
  const file = join(home, 'root.pem');
  mkdirSync(database, { recursive: true });
  writeFileSync(file, trusted.certificatePem);
  const made = await run('certutil', ['-d', `sql:${database}`, '-N', '--empty-password']);
  const added = await run('certutil', ['-d', `sql:${database}`, '-A', '-t', 'C,,', '-n', 'Vivarium root', '-i', file]);
  expect([made.code, added.code], made.text + added.text).toEqual([0, 0]);
  return home;
}

async function openBrowser(home: string) {
  const browser = await launchChromium({ home, args: ['--host-resolver-rules=MAP *.com 127.0.0.1'] });
  onTestFinished(() => browser.close());
  return browser.newPage();
}

const rogueContext = (names: RogueName[]): SecureContext => {
  const leaf = createRogueLeaf(root, names);
  return createSecureContext({ key: leaf.privateKeyPem, cert: leaf.certificatePem });
};

test('Chromium applies the trusted root’s constraints', async () => {
  const good = 'demo.vivarium.localhost';
  const rogues: Record<string, RogueName[]> = {
    'www.evil.com': [{ kind: 'dns', value: 'www.evil.com' }],
    'mail.vivarium.localhost': [
      { kind: 'dns', value: 'mail.vivarium.localhost' },
      { kind: 'email', value: 'anna@evil.com' },
    ],
    'uri.vivarium.localhost': [
      { kind: 'dns', value: 'uri.vivarium.localhost' },
      { kind: 'uri', value: 'https://evil.com/' },
    ],
    'lan.vivarium.localhost': [
      { kind: 'dns', value: 'lan.vivarium.localhost' },
      { kind: 'ip', value: Buffer.of(192, 168, 0, 1) },
    ],
  };
  const { port } = await startHttpsServer((hostname) =>
    rogueContext(rogues[hostname] ?? [{ kind: 'dns', value: good }]),
  );
  const page = await openBrowser(await homeTrusting(root));
  expect((await page.goto(`https://${good}:${port}/`))?.status()).toBe(200);
  for (const hostname of Object.keys(rogues)) {
    await expect(page.goto(`https://${hostname}:${port}/`), hostname).rejects.toThrow('ERR_CERT_INVALID');
  }
});

test('Chromium starts where the path of the temporary folder leaves no room for its socket', async () => {
  const tmpDir = join(temporaryFolder(), 'x'.repeat(60));
  mkdirSync(tmpDir);
  const browser = await launchChromium({ home: tmpDir, tmpDir });
  expect(browser.isConnected()).toBe(true);
  await browser.close();
});
