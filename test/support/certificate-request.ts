import { generateKeyPairSync, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { distinguishedName } from '../../main/ca/certificate.ts';
import { bitString, decode, encode, integer, octetString, oid, sequence, set, tagged } from '../../main/ca/der.ts';
import type { Node } from '../../main/ca/der.ts';
import { EXTENSION } from '../../main/ca/extensions.ts';
import { generalName, parseLeafName } from '../../main/ca/names.ts';

export interface CsrOptions {
  names: readonly string[];
  commonName?: string;
  keys?: KeyPairKeyObjectResult;
  /** Octets to sign instead of the request. */
  signs?: Buffer;
  /** The algorithm of the signature. */
  algorithm?: string;
  /** In place of the alternative names. */
  generalNames?: readonly Node[];
}

export const p256 = (): KeyPairKeyObjectResult => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
export const rsa = (modulusLength: number): KeyPairKeyObjectResult => generateKeyPairSync('rsa', { modulusLength });

/** A CSR in DER (RFC 2986), signed with SHA-256; without names, it has no extensions. */
export function createCsr(options: CsrOptions): Buffer {
  const { names, commonName, keys = p256(), signs } = options;
  const ofKey = keys.publicKey.asymmetricKeyType === 'rsa' ? '1.2.840.113549.1.1.11' : '1.2.840.10045.4.3.2';
  const list = options.generalNames ?? names.map((name) => generalName(parseLeafName(name)));
  const alternative = sequence(oid(EXTENSION.subjectAltName), octetString(encode(sequence(...list))));
  const attributes = list.length === 0 ? [] : [sequence(oid('1.2.840.113549.1.9.14'), set(sequence(alternative)))];
  const info = sequence(
    integer(Buffer.of(0)),
    distinguishedName(commonName === undefined ? {} : { commonName }),
    decode(keys.publicKey.export({ type: 'spki', format: 'der' })),
    tagged(0, ...attributes),
  );
  const signature = sign('sha256', signs ?? encode(info), keys.privateKey);
  return encode(sequence(info, sequence(oid(options.algorithm ?? ofKey)), bitString(signature)));
}
