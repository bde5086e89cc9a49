import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { intermediateOf } from '../../../main/ca/authority.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { opensslVerify } from './commands.ts';
import { type RogueName, createRogueLeaf } from './rogue-leaf.ts';

const YEAR_MS = 365 * 86_400_000;

const clock = createClock();
const FILES_URL = 'http://127.0.0.1:4780';
const CONSTRAINTS = ['-ext', 'nameConstraints,basicConstraints,keyUsage'];
const root = createRoot({ realNowMs: clock.state().realNow, owner: 'anna@laptop' });
const intermediate = intermediateOf(root, FILES_URL, null);

/** 253 characters, the maximum for a name: labels of 63, 63, 63 and 51, and a suffix. */
const LONGEST = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(51)}.localhost`;

describe('openssl verify -x509_strict accepts', () => {
  test.each<[string, string[], string[]]>([
    ['a platform hostname', ['demo.vivarium.localhost'], ['-verify_hostname', 'demo.vivarium.localhost']],
    [
      'a staging hostname',
      ['demo-staging.vivarium.localhost'],
      ['-verify_hostname', 'demo-staging.vivarium.localhost'],
    ],
    ['localhost itself', ['localhost'], ['-verify_hostname', 'localhost']],
    [
      'a label of 63 characters',
      [`${'x'.repeat(63)}.vivarium.localhost`],
      ['-verify_hostname', `${'x'.repeat(63)}.vivarium.localhost`],
    ],
    ['a name of 253 characters', [LONGEST], ['-verify_hostname', LONGEST]],
    ['an A-label', ['bücher.test'], ['-verify_hostname', 'xn--bcher-kva.test']],
    ['a custom domain under a reserved suffix', ['www.acme.example'], ['-verify_hostname', 'www.acme.example']],
    ['an IPv4 loopback address alone', ['127.0.0.1'], ['-verify_ip', '127.0.0.1']],
    ['another of 127.0.0.0/8', ['127.255.255.254'], ['-verify_ip', '127.255.255.254']],
    ['the IPv6 loopback address alone', ['::1'], ['-verify_ip', '::1']],
    ['names and addresses together', ['vivarium.localhost', 'localhost', '127.0.0.1', '::1'], ['-verify_ip', '::1']],
    ['a hundred names', Array.from({ length: 100 }, (_, index) => `h${index}.test`), ['-verify_hostname', 'h99.test']],
  ])('%s', async (_name, hostnames, options) => {
    const leaf = createLeaf({ issuer: intermediate, hostnames, clock, filesUrl: FILES_URL });
    expect((await opensslVerify(root, leaf, options, [intermediate])).text).toMatch(/: OK\s*$/);
    expect(lintLeaf(leaf.certificatePem)).toEqual([]);
  });

  test.each<[string, number]>([
    ['fifty years ahead', 50 * YEAR_MS],
    ['ten years behind', -10 * YEAR_MS],
  ])('a leaf that was made while the app’s clock was %s', async (_name, offsetMs) => {
    const moved = createClock({ setting: { offsetMs, frozenAtMs: null } });
    const leaf = createLeaf({ issuer: root, hostnames: ['demo.vivarium.localhost'], clock: moved });
    expect((await opensslVerify(root, leaf)).text).toMatch(/: OK\s*$/);
    expect(leaf.notAfterMs - leaf.wireNotAfterMs).toBeCloseTo(offsetMs, -4);
  });

  test('a leaf signed by the root itself, as before intermediates were introduced', async () => {
    const former = createRoot({ realNowMs: clock.state().realNow, owner: 'anna@laptop', leavesOnly: true });
    for (const signer of [root, former]) {
      const leaf = createLeaf({ issuer: signer, hostnames: ['demo.test'], clock });
      expect((await opensslVerify(signer, leaf)).text).toMatch(/: OK\s*$/);
    }
  });

  test('the intermediate, which permits no further authority below it', async () => {
    const folder = temporaryFolder();
    const [trusted, file] = [join(folder, 'root.pem'), join(folder, 'intermediate.pem')];
    writeFileSync(trusted, root.certificatePem);
    writeFileSync(file, intermediate.certificatePem);
    const verified = await run('openssl', ['verify', '-x509_strict', '-CAfile', trusted, file]);
    expect(verified.text).toMatch(/: OK\s*$/);
    const { text } = await run('openssl', ['x509', '-in', file, '-noout', '-text']);
    expect(text).toContain('CA:TRUE, pathlen:0');
    expect(text).toContain('CA Issuers - URI:http://127.0.0.1:4780/root.crt');
    expect(text).toContain('URI:http://127.0.0.1:4780/root.crl');
    expect(text).toContain('Policy: 2.23.140.1.2.1');
  });

  test('the root itself, and reports its constraints as critical', async () => {
    const file = join(temporaryFolder(), 'root.pem');
    writeFileSync(file, root.certificatePem);
    const verified = await run('openssl', ['verify', '-x509_strict', '-check_ss_sig', '-CAfile', file, file]);
    expect(verified.text).toMatch(/: OK\s*$/);
    const { text } = await run('openssl', ['x509', '-in', file, '-noout', ...CONSTRAINTS]);
    expect(text).toContain('Name Constraints: critical');
    expect(text).toContain('CA:TRUE, pathlen:1');
    expect(text).toContain('Certificate Sign, CRL Sign');
    for (const permitted of ['DNS:localhost', 'DNS:test', 'DNS:example', 'DNS:internal', 'IP:127.0.0.0/255.0.0.0']) {
      expect(text).toContain(permitted);
    }
  });
});

test('openssl verify refuses an intermediate below a root whose path length is 0', async () => {
  const former = createRoot({ realNowMs: clock.state().realNow, owner: 'anna@laptop', leavesOnly: true });
  const below = intermediateOf(former, null, null);
  const leaf = createLeaf({ issuer: below, hostnames: ['demo.test'], clock });
  expect((await opensslVerify(former, leaf, [], [below])).text).toContain('path length constraint exceeded');
});

describe('openssl verify, because of the root’s constraints, refuses', () => {
  const good: RogueName = { kind: 'dns', value: 'demo.vivarium.localhost' };
  test.each<[string, RogueName[]]>([
    ['a name outside', [{ kind: 'dns', value: 'evil.com' }]],
    ['a name outside beside a permitted one', [good, { kind: 'dns', value: 'www.evil.com' }]],
    ['a name that only ends in the same letters', [{ kind: 'dns', value: 'evil-test' }]],
    ['example.com', [{ kind: 'dns', value: 'example.com' }]],
    ['another machine’s address', [good, { kind: 'ip', value: Buffer.of(192, 168, 0, 1) }]],
    ['another IPv6 address', [good, { kind: 'ip', value: Buffer.from(`${'00'.repeat(15)}02`, 'hex') }]],
    ['an e-mail address', [good, { kind: 'email', value: 'anna@vivarium.localhost' }]],
    ['a URI', [good, { kind: 'uri', value: 'https://demo.vivarium.localhost/' }]],
  ])('%s', async (_name, names) => {
    for (const signer of [root, intermediate]) {
      const { code, text } = await opensslVerify(root, createRogueLeaf(signer, names), [], [intermediate]);
      expect(text).toContain('error 47 at 0 depth lookup: permitted subtree violation');
      expect(code).not.toBe(0);
    }
  });

  test('a common name outside the constraints, without alternative names', async () => {
    const { text } = await opensslVerify(root, createRogueLeaf(root, [], 'www.evil.com'));
    expect(text).toContain('error 47');
  });

  test('nothing for a rogue leaf within the constraints: only the constraints cause the refusals above', async () => {
    expect((await opensslVerify(root, createRogueLeaf(root, [good]))).text).toMatch(/: OK\s*$/);
  });
});

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const DAY_MS = 86_400_000;
/** Below the 398 days of public certificates and Apple's 825. */
const VALIDITY_DAYS_MAX = 397;

/** Faults that browsers refuse and `openssl verify -x509_strict` accepts; empty if the leaf has none. */
export function lintLeaf(pem: string): string[] {
  const leaf = new X509Certificate(pem);
  const days = (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / DAY_MS;
  const rules: [boolean, string][] = [
    [/^[0-9A-F]{32}$/.test(leaf.serialNumber), `serial ${leaf.serialNumber} has not 16 octets or is negative`],
    [/^[4-7]/.test(leaf.serialNumber), 'serial does not begin with the bits 01'],
    [leaf.keyUsage?.length === 1 && leaf.keyUsage[0] === SERVER_AUTH, 'extended key usage is not serverAuth alone'],
    [leaf.subjectAltName !== undefined, 'no alternative names'],
    [days <= VALIDITY_DAYS_MAX, `valid for ${days} days, more than ${VALIDITY_DAYS_MAX}`],
    [!leaf.ca, 'is a certificate authority'],
    [leaf.publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1', 'the key is not P-256'],
    [leaf.signatureAlgorithm === 'ecdsa-with-SHA256', `signed with ${leaf.signatureAlgorithm ?? 'nothing'}`],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}
