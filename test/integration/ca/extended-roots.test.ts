import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { intermediateOf } from '../../../main/ca/authority.ts';
import { createRoot, extendRoot, renewRoot, type Root } from '../../../main/ca/root.ts';
import { opensslVerify } from './commands.ts';
import { run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A client's verdict on a leaf, depending on which certificates of the same root it trusts. */

const clock = createClock();
const { realNow } = clock.state();
const old = createRoot({ realNowMs: realNow, owner: 'anna@laptop' });
const extended = extendRoot(old, 'acme.com', realNow);

const leafFor = (root: Root, hostname: string) => createLeaf({ issuer: root, hostnames: [hostname], clock });

/** A leaf as served: signed by the intermediate of `root`, which is sent with it. */
function servedBy(root: Root, hostname: string) {
  const intermediate = intermediateOf(root, null, null);
  return { leaf: createLeaf({ issuer: intermediate, hostnames: [hostname], clock }), chain: [intermediate] };
}
const OUTSIDE = 'error 47 at 0 depth lookup: permitted subtree violation';

/** `openssl verify` with several trusted certificates, in this order. */
async function verifyWith(trusted: readonly Root[], leaf: { certificatePem: string }): Promise<string> {
  const folder = temporaryFolder();
  const bundle = join(folder, 'bundle.pem');
  const file = join(folder, 'leaf.pem');
  writeFileSync(bundle, trusted.map((root) => root.certificatePem).join(''));
  writeFileSync(file, leaf.certificatePem);
  return (await run('openssl', ['verify', '-x509_strict', '-CAfile', bundle, file])).text;
}

test('the extended certificate passes OpenSSL’s strict verification as its own issuer', async () => {
  const file = join(temporaryFolder(), 'root.pem');
  writeFileSync(file, extended.certificatePem);
  const { text } = await run('openssl', ['verify', '-x509_strict', '-check_ss_sig', '-CAfile', file, file]);
  expect(text).toMatch(/: OK\s*$/);
  const { text: shown } = await run('openssl', ['x509', '-in', file, '-noout', '-ext', 'nameConstraints']);
  expect(shown).toContain('Name Constraints: critical');
  expect(shown).toContain('DNS:acme.com');
});

test.each(['sslclient', 'timestampsign'])('a root may not sign for another purpose: %s', async (purpose) => {
  const folder = temporaryFolder();
  const [file, leaf] = [join(folder, 'root.pem'), join(folder, 'leaf.pem')];
  writeFileSync(leaf, leafFor(extended, 'demo.test').certificatePem);
  for (const root of [old, extended, renewRoot(old, realNow)]) {
    writeFileSync(file, root.certificatePem);
    const verify = (asked: string) => run('openssl', ['verify', '-purpose', asked, '-CAfile', file, file]);
    expect((await verify(purpose)).text).toMatch(/unsuitable certificate purpose|unsupported/i);
    const asServer = await run('openssl', ['verify', '-purpose', 'sslserver', '-CAfile', file, leaf]);
    expect(asServer.text).toMatch(/: OK\s*$/);
  }
});

test('a client that trusts the extended certificate accepts the new suffix, the old ones, and earlier leaves', async () => {
  const after = [leafFor(extended, 'www.acme.com'), leafFor(extended, 'demo.test'), leafFor(old, 'demo.test')];
  for (const leaf of after) expect((await opensslVerify(extended, leaf)).text).toMatch(/: OK\s*$/);
  for (const { leaf, chain } of [servedBy(extended, 'www.acme.com'), servedBy(old, 'demo.test')]) {
    expect((await opensslVerify(extended, leaf, [], chain)).text).toMatch(/: OK\s*$/);
  }
});

test('a client that trusts only the old certificate accepts the old suffixes from either certificate', async () => {
  for (const root of [old, extended]) {
    expect((await opensslVerify(old, leafFor(root, 'demo.test'))).text).toMatch(/: OK\s*$/);
    const { leaf, chain } = servedBy(root, 'demo.test');
    expect((await opensslVerify(old, leaf, [], chain)).text).toMatch(/: OK\s*$/);
  }
});

test('a client that trusts only the old certificate refuses the new suffix because of the constraints', async () => {
  const { text, code } = await opensslVerify(old, leafFor(extended, 'www.acme.com'));
  expect(text).toContain(OUTSIDE);
  expect(code).not.toBe(0);
  const { leaf, chain } = servedBy(extended, 'www.acme.com');
  expect((await opensslVerify(old, leaf, [], chain)).text).toContain(OUTSIDE);
});

test('a client that trusts both may pick the old one and refuse: OpenSSL takes the first', async () => {
  const leaf = leafFor(extended, 'www.acme.com');
  expect(await verifyWith([extended, old], leaf)).toMatch(/: OK\s*$/);
  expect(await verifyWith([old, extended], leaf)).toContain(OUTSIDE);
});

test('a root without intermediates remains so when it is extended, and can have one after a renewal', async () => {
  const former = createRoot({ realNowMs: realNow, owner: 'anna@laptop', leavesOnly: true });
  const wider = extendRoot(former, 'acme.com', realNow);
  expect(wider.leavesOnly).toBe(true);
  expect((await opensslVerify(former, leafFor(wider, 'demo.test'))).text).toMatch(/: OK\s*$/);
  const renewed = renewRoot(wider, realNow);
  expect(renewed.leavesOnly).toBe(false);
  const { leaf, chain } = servedBy(renewed, 'www.acme.com');
  for (const one of [leaf, leafFor(former, 'demo.test')]) {
    expect((await opensslVerify(renewed, one, [], chain)).text).toMatch(/: OK\s*$/);
  }
});

test('the extended certificate covers only its suffixes', async () => {
  const wider = extendRoot(extended, 'acme.org', realNow);
  expect((await opensslVerify(extended, leafFor(wider, 'www.acme.org'))).text).toContain(OUTSIDE);
});
