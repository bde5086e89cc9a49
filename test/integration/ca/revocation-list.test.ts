import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createLeaf, createRevocationList } from '../../../main/ca/leaf.ts';
import { intermediateOf } from '../../../main/ca/authority.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createClock();
const { realNow } = clock.state();
const FILES_URL = 'http://127.0.0.1:4780';
const CRL = ['crl', '-inform', 'DER', '-in'];
const ISSUER_EXTENSIONS = 'authorityInfoAccess,certificatePolicies';
const root = createRoot({ realNowMs: realNow, owner: 'anna@laptop' });
const intermediate = intermediateOf(root, FILES_URL, null);

function files() {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const paths = { root: at('root.pem'), list: at('root.crl'), ofLeaves: at('leaves.crl'), leaf: at('leaf.pem') };
  const leaf = createLeaf({ issuer: intermediate, hostnames: ['www.acme.test'], clock, filesUrl: FILES_URL });
  writeFileSync(paths.root, root.certificatePem + intermediate.certificatePem);
  writeFileSync(paths.list, createRevocationList(root, realNow));
  writeFileSync(paths.ofLeaves, createRevocationList(intermediate, realNow));
  writeFileSync(paths.leaf, leaf.certificatePem);
  return paths;
}

test('openssl finds the list signed by the root, complete, and empty', async () => {
  const { root: rootFile, list } = files();
  const { text } = await run('openssl', [...CRL, list, '-CAfile', rootFile, '-noout', '-text']);
  expect(text).toContain('verify OK');
  expect(text).toMatch(/Version 2 \(0x1\)/);
  expect(text).toMatch(/X509v3 Authority Key Identifier/);
  expect(text).toMatch(/X509v3 CRL Number:\s+\d+|X509v3 CRL Number:\s+0x/);
  expect(text).toContain('No Revoked Certificates');
});

test.each([root, intermediate])(
  'openssl refuses revoked leaves by the list of the $role, and shows the reasons',
  async (signer) => {
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    const [rootFile, list, pem] = [at('root.pem'), at('root.crl'), at('crl.pem')];
    const leafOf = (hostname: string) => {
      const leaf = createLeaf({ issuer: signer, hostnames: [hostname], clock });
      writeFileSync(at(hostname), leaf.certificatePem);
      return { ...leaf, file: at(hostname) };
    };
    const [compromised, plain, good] = [leafOf('a.test'), leafOf('b.test'), leafOf('c.test')];
    const wireAtMs = realNow - 60_000;
    writeFileSync(rootFile, root.certificatePem + intermediate.certificatePem);
    const revoked = [
      { serial: compromised.serial, reason: 'keyCompromise', wireAtMs },
      { serial: plain.serial, reason: 'unspecified', wireAtMs },
    ] as const;
    writeFileSync(list, createRevocationList(signer, realNow, revoked));
    const { text } = await run('openssl', [...CRL, list, '-CAfile', rootFile, '-text', '-out', pem]);
    expect(text).toContain('verify OK');
    const shown = (await run('openssl', ['crl', '-in', pem, '-noout', '-text'])).text;
    expect(shown.match(/Serial Number: [0-9A-F]+/g)).toEqual(revoked.map(({ serial }) => `Serial Number: ${serial}`));
    expect(shown.match(/CRL Reason Code/g)).toHaveLength(1);
    expect(shown).toContain('Key Compromise');
    const verify = (file: string) =>
      run('openssl', ['verify', '-x509_strict', '-crl_check', '-CRLfile', pem, '-CAfile', rootFile, file]);
    expect((await verify(compromised.file)).text).toContain('certificate revoked');
    expect((await verify(plain.file)).text).toContain('certificate revoked');
    expect((await verify(good.file)).text).toMatch(/: OK\s*$/);
  },
);

test('a leaf contains the URL of the list, and openssl verify accepts the leaf by the list', async () => {
  const { root: rootFile, list, ofLeaves, leaf } = files();
  const lists = [list, ofLeaves].flatMap((file) => ['-CRLfile', `${file}.pem`]);
  for (const file of [list, ofLeaves]) {
    await run('openssl', [...CRL, file, '-out', `${file}.pem`]);
  }
  const shown = await run('openssl', ['x509', '-in', leaf, '-noout', '-ext', 'crlDistributionPoints']);
  expect(shown.text).toContain('URI:http://127.0.0.1:4780/intermediate.crl');
  const access = await run('openssl', ['x509', '-in', leaf, '-noout', '-ext', ISSUER_EXTENSIONS]);
  expect(access.text).toContain('CA Issuers - URI:http://127.0.0.1:4780/intermediate.crt');
  expect(access.text).toContain('Policy: 2.23.140.1.2.1');
  const options = ['-x509_strict', '-crl_check_all', ...lists, '-CAfile', rootFile];
  expect((await run('openssl', ['verify', ...options, leaf])).text).toMatch(/: OK\s*$/);
});
