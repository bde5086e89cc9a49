import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRevocationList, createRoot } from '../../../main/ca/root.ts';
import { run, temporaryFolder } from './commands.ts';

const clock = createClock();
const { realNow } = clock.state();
const root = createRoot({ realNowMs: realNow, owner: 'anna@laptop' });

function files() {
  const folder = temporaryFolder();
  const paths = { root: join(folder, 'root.pem'), list: join(folder, 'root.crl'), leaf: join(folder, 'leaf.pem') };
  const leaf = createLeaf({ root, hostnames: ['www.acme.test'], clock, controlUrl: 'http://127.0.0.1:4780' });
  writeFileSync(paths.root, root.certificatePem);
  writeFileSync(paths.list, createRevocationList(root, realNow));
  writeFileSync(paths.leaf, leaf.certificatePem);
  return paths;
}

test('openssl finds the list signed by the root, complete, and empty', async () => {
  const { root: rootFile, list } = files();
  const { text } = await run('openssl', ['crl', '-inform', 'DER', '-in', list, '-CAfile', rootFile, '-noout', '-text']);
  expect(text).toContain('verify OK');
  expect(text).toMatch(/Version 2 \(0x1\)/);
  expect(text).toMatch(/X509v3 Authority Key Identifier/);
  expect(text).toMatch(/X509v3 CRL Number:\s+\d+|X509v3 CRL Number:\s+0x/);
  expect(text).toContain('No Revoked Certificates');
});

test('a leaf says where the list is, and openssl verify accepts it by the list', async () => {
  const { root: rootFile, list, leaf } = files();
  const pem = `${list}.pem`;
  await run('openssl', ['crl', '-inform', 'DER', '-in', list, '-out', pem]);
  const shown = await run('openssl', ['x509', '-in', leaf, '-noout', '-ext', 'crlDistributionPoints']);
  expect(shown.text).toContain('URI:http://127.0.0.1:4780/root.crl');
  const access = await run('openssl', [
    'x509',
    '-in',
    leaf,
    '-noout',
    '-ext',
    'authorityInfoAccess,certificatePolicies',
  ]);
  expect(access.text).toContain('CA Issuers - URI:http://127.0.0.1:4780/root.crt');
  expect(access.text).toContain('Policy: 2.23.140.1.2.1');
  const options = ['-x509_strict', '-crl_check', '-CRLfile', pem, '-CAfile', rootFile];
  expect((await run('openssl', ['verify', ...options, leaf])).text).toMatch(/: OK\s*$/);
});
