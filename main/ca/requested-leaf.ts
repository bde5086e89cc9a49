import type { KeyObject } from 'node:crypto';
import type { LeafDates } from '../model/leaf.ts';
import { certificatePem, keyIdentifier } from './certificate.ts';
import { children, content, decode } from './der.ts';
import { signLeaf } from './leaf.ts';
import { parseLeafName } from './names.ts';
import type { Signer } from './signer.ts';

export interface RequestedLeaf {
  readonly certificatePem: string;
  /** Hexadecimal, upper case, 32 digits. */
  readonly serial: string;
}

/** Issues a leaf for the key of a CSR, RSA or EC. Its names are checked already. */
export function createRequestedLeaf(options: {
  issuer: Pick<Signer, 'role' | 'subject' | 'keyIdentifier' | 'privateKey'>;
  publicKey: KeyObject;
  /** Hostnames and IP addresses in normal form. */
  names: readonly string[];
  dates: Pick<LeafDates, 'wireNotBeforeMs' | 'wireNotAfterMs'>;
  /** The base of the addresses of the issuer's revocation list and certificate. */
  filesUrl: string | null;
}): RequestedLeaf {
  const { issuer, publicKey, dates, filesUrl } = options;
  const spki = decode(publicKey.export({ type: 'spki', format: 'der' }));
  // The octets of the key's bit string without the count of its unused bits.
  const subjectKey = keyIdentifier(content(children(spki)[1]).subarray(1));
  const names = options.names.map(parseLeafName);
  const { der, serial } = signLeaf({ issuer, names, dates, point: spki, subjectKey, filesUrl });
  return { certificatePem: certificatePem(der), serial };
}
