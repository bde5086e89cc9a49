import { expect, it } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import {
  certificatePem,
  createKeyPair,
  distinguishedName,
  keyIdentifier,
  randomSerial,
  signCertificate,
  type Signer,
} from '../../../main/ca/certificate.ts';
import { intermediateExtensions, leafExtensions } from '../../../main/ca/extensions.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { parseLeafName } from '../../../main/ca/names.ts';
import { intermediateOf } from '../../../main/ca/authority.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { isFetchable, isOwnCertificate, isPreviewable } from '../../../main/electron/rules.ts';

const HOST = 'shop.acme.test';
const clock = createClock();
const NOW = clock.state().realNow;
const root = createRoot({ realNowMs: NOW, owner: 'anna@laptop' });
const stranger = createRoot({ realNowMs: NOW, owner: 'anna@laptop' });
const intermediate = intermediateOf(root, null, null);
const leafOf = (signer: Signer, ...hostnames: string[]): string =>
  createLeaf({ issuer: signer, hostnames, clock, filesUrl: null }).certificatePem;

/** A certificate by our root that names the hostname, and may sign others. */
function authorityFor(hostname: string): string {
  const { point } = createKeyPair();
  const subjectKey = keyIdentifier(point);
  const signedBy = { issuer: root, filesUrl: null };
  const [names] = leafExtensions({ ...signedBy, subjectKey, names: [parseLeafName(hostname)], namesCritical: false });
  const extensions = [...intermediateExtensions(subjectKey, root.constraints, signedBy), ...(names ? [names] : [])];
  const { subject: issuer, notBeforeMs, notAfterMs, privateKey } = root;
  const subject = distinguishedName({ commonName: hostname });
  const fields = { serial: randomSerial(), issuer, subject, notBeforeMs, notAfterMs, point, extensions };
  return certificatePem(signCertificate(fields, privateKey));
}

const served = {
  isMapped: (hostname: string) => [HOST, 'other.acme.test'].includes(hostname),
  issuerPems: () => [root.certificatePem, intermediate.certificatePem],
};
const accepts = (pem: string, { hostname = HOST, nowMs = NOW } = {}): boolean =>
  isOwnCertificate({ hostname, pem, nowMs }, served);

const DAY_MS = 86_400_000;

it.each<[what: string, accepted: boolean, expected: boolean]>([
  ['of our root for that hostname', accepts(leafOf(root, HOST)), true],
  ['of our intermediate', accepts(leafOf(intermediate, HOST)), true],
  ['of a third party’s intermediate', accepts(leafOf(intermediateOf(stranger, null, null), HOST)), false],
  ['that is the intermediate itself', accepts(intermediate.certificatePem), false],
  ['for that hostname that may sign others', accepts(authorityFor(HOST)), false],
  ['for that hostname in capitals', accepts(leafOf(root, HOST), { hostname: 'SHOP.acme.test' }), true],
  ['of a root of the same name that is not ours', accepts(leafOf(stranger, HOST)), false],
  ['for another hostname that is served', accepts(leafOf(root, 'other.acme.test')), false],
  ['for a hostname that is not served', accepts(leafOf(root, 'x.test'), { hostname: 'x.test' }), false],
  ['that has expired', accepts(leafOf(root, HOST), { nowMs: NOW + 400 * DAY_MS }), false],
  ['that is not valid yet', accepts(leafOf(root, HOST), { nowMs: NOW - 400 * DAY_MS }), false],
  ['that is the root itself', accepts(root.certificatePem), false],
  ['that is invalid', accepts('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'), false],
  ['that is empty', accepts(''), false],
])('a preview accepts a certificate %s: %#', (_, accepted, expected) => {
  expect(accepted).toBe(expected);
});

it.each<[url: string, shown: boolean]>([
  [`https://${HOST}/x`, true],
  [`http://${HOST}:8080/`, true],
  [`https://${HOST}./`, true],
  ['https://example.com/', false],
  [`https://${HOST}.evil.test/`, false],
  [`https://${HOST}@evil.test/`, false],
  [`https://user@${HOST}/`, false],
  ['http://127.0.0.1:4780/', false],
  ['file:///etc/passwd', false],
  ['app://vivarium/', false],
  ['javascript:alert(1)', false],
  ['', false],
])('a preview may show %j: %s', (url, shown) => {
  expect(isPreviewable(url, served)).toBe(shown);
});

it.each<[url: string, fetched: boolean]>([
  ['https://example.com/', true],
  ['wss://shop.acme.test/', true],
  ['devtools://devtools/bundled/inspector.html', true],
  ['data:text/plain,x', true],
  ['file:///etc/passwd', false],
  ['app://vivarium/', false],
  ['chrome://version', false],
  ['', false],
])('a preview may request %j from its proxy: %s', (url, fetched) => {
  expect(isFetchable(url)).toBe(fetched);
});
