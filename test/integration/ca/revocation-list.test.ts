import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRevocationList, createRoot } from '../../../main/ca/root.ts';
import { run } from './commands.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createClock();
const { realNow } = clock.state();
const root = createRoot({ realNowMs: realNow, owner: 'anna@laptop' });

function files() {
  const folder = temporaryFolder();
  const paths = { root: join(folder, 'root.pem'), list: join(folder, 'root.crl'), leaf: join(folder, 'leaf.pem') };
  const leaf = createLeaf({ root, hostnames: ['www.acme.test'], clock, filesUrl: 'http://127.0.0.1:4780' });
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

test('openssl reads revoked leaves with their reasons, and refuses them by the list', async () => {
  const folder = temporaryFolder();
  const [rootFile, list, pem] = ['root.pem', 'root.crl', 'crl.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const [compromised, plain, good] = ['a.test', 'b.test', 'c.test'].map((hostname) => {
    const leaf = createLeaf({ root, hostnames: [hostname], clock });
    writeFileSync(join(folder, hostname), leaf.certificatePem);
    return { ...leaf, file: join(folder, hostname) };
  });
  const wireAtMs = realNow - 60_000;
  writeFileSync(rootFile, root.certificatePem);
  const revoked = [
    { serial: compromised?.serial ?? '', reason: 'keyCompromise', wireAtMs },
    { serial: plain?.serial ?? '', reason: 'unspecified', wireAtMs },
  ] as const;
  writeFileSync(list, createRevocationList(root, realNow, revoked));
  const { text } = await run('openssl', [
    'crl',
    '-inform',
    'DER',
    '-in',
    list,
    '-CAfile',
    rootFile,
    '-text',
    '-out',
    pem,
  ]);
  expect(text).toContain('verify OK');
  const shown = (await run('openssl', ['crl', '-in', pem, '-noout', '-text'])).text;
  expect(shown.match(/Serial Number: [0-9A-F]+/g)).toEqual(revoked.map(({ serial }) => `Serial Number: ${serial}`));
  expect(shown.match(/CRL Reason Code/g)).toHaveLength(1);
  expect(shown).toContain('Key Compromise');
  const verify = (file = '') =>
    run('openssl', ['verify', '-x509_strict', '-crl_check', '-CRLfile', pem, '-CAfile', rootFile, file]);
  expect((await verify(compromised?.file)).text).toContain('certificate revoked');
  expect((await verify(plain?.file)).text).toContain('certificate revoked');
  expect((await verify(good?.file)).text).toMatch(/: OK\s*$/);
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
