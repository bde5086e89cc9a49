import {
  certificatePem,
  distinguishedName,
  randomSerial,
  signCertificate,
  createKeyPair,
  keyIdentifier,
  type Signer,
} from '../../../main/ca/certificate.ts';
import { encode, octetString, oid, sequence, taggedOctets, type Node } from '../../../main/ca/der.ts';
import { EXTENSION, leafExtensions } from '../../../main/ca/extensions.ts';
import { GENERAL_NAME } from '../../../main/ca/names.ts';

/** A name in a rogue leaf; an address is given by its octets. */
export interface RogueName {
  kind: keyof typeof GENERAL_NAME;
  value: string | Buffer;
}

/** What a thief of an authority's key could make: a leaf for any names, otherwise valid. */
export function createRogueLeaf(issuer: Signer, names: readonly RogueName[], commonName?: string) {
  const { privateKey, point } = createKeyPair();
  const usual = leafExtensions({
    names: [],
    subjectKey: keyIdentifier(point),
    issuer,
    namesCritical: false,
    filesUrl: null,
  });
  const alternativeNames = sequence(oid(EXTENSION.subjectAltName), octetString(encode(sequence(...names.map(node)))));
  const der = signCertificate(
    {
      serial: randomSerial(),
      issuer: issuer.subject,
      subject: distinguishedName({ commonName: commonName ?? 'rogue' }),
      notBeforeMs: issuer.notBeforeMs,
      notAfterMs: issuer.notBeforeMs + 86_400_000,
      point,
      extensions: names.length === 0 ? usual.slice(1) : [alternativeNames, ...usual.slice(1)],
    },
    issuer.privateKey,
  );
  return {
    certificatePem: certificatePem(der),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const node = ({ kind, value }: RogueName): Node =>
  taggedOctets(GENERAL_NAME[kind], typeof value === 'string' ? Buffer.from(value, 'latin1') : value);
