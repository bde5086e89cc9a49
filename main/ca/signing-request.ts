import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { orElse } from '../contract/errors.ts';
import { children, content, decode, encode, isContext, readOid, type Node } from './der.ts';
import { EXTENSION } from './extensions.ts';
import { formatAddress, GENERAL_NAME } from './names.ts';

/** The contents of a CSR (PKCS #10, RFC 2986) with a valid signature and a strong enough key. */
export interface SigningRequest {
  readonly publicKey: KeyObject;
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  /** Alternative names of other kinds. */
  readonly others: number;
  readonly commonName: string | null;
}

/** Larger than one for 100 long names. */
const OCTETS_MAX = 65_536;

const COMMON_NAME = '2.5.4.3';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** The hashes of signature algorithms, by identifier (RFC 8017 §A.2.4, RFC 5758 §3.2). */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
]);

/** Keys that browsers accept in certificates (CA/Browser Forum, Baseline Requirements 6.1.5). */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1']);
const RSA_BITS = { min: 2048, max: 4096 };
const RSA_EXPONENT = 65_537n;

/** Reads a CSR in DER. @throws Error with the fault as a sentence. */
export function readSigningRequest(der: Uint8Array): SigningRequest {
  if (der.length > OCTETS_MAX) throw new Error(`It has more than ${OCTETS_MAX} octets.`);
  const { info, fields, algorithm, signature } = parse(der);
  const [, subject, spki, ...rest] = fields;
  if (subject === undefined || spki === undefined) throw NOT_A_CSR();
  const publicKey = readKey(spki);
  const digest = HASHES.get(algorithm);
  if (digest === undefined)
    throw new Error('It is signed with an algorithm other than RSA or ECDSA with SHA-256 and up.');
  if (!isSigned(digest, encode(info), publicKey, signature)) throw new Error('Its signature does not match its key.');
  try {
    return { publicKey, commonName: commonNameOf(subject), ...namesOf(rest.find((node) => isContext(node, 0))) };
  } catch {
    throw NOT_A_CSR();
  }
}

const NOT_A_CSR = (): Error => new Error('It is not a certification request in DER (RFC 2986).');

function parse(der: Uint8Array) {
  try {
    const [info, algorithm, signature] = children(decode(der));
    if (info === undefined) throw NOT_A_CSR();
    const [oid] = children(algorithm);
    // A signature has whole octets, without padding bits.
    return { info, fields: children(info), algorithm: readOid(oid), signature: content(signature).subarray(1) };
  } catch {
    throw NOT_A_CSR();
  }
}

function readKey(spki: Node): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: encode(spki), format: 'der', type: 'spki' });
  } catch {
    throw new Error('Its public key cannot be read.');
  }
  const { namedCurve = '', modulusLength = 0, publicExponent } = key.asymmetricKeyDetails ?? {};
  const isStrong =
    key.asymmetricKeyType === 'rsa'
      ? modulusLength >= RSA_BITS.min && modulusLength <= RSA_BITS.max
      : CURVES.has(namedCurve);
  if (!isStrong)
    throw new Error(`Its key has to be RSA with ${RSA_BITS.min} to ${RSA_BITS.max} bits, or ECDSA on P-256 or P-384.`);
  if (publicExponent !== undefined && publicExponent !== RSA_EXPONENT)
    throw new Error('The exponent of its RSA key is not 65537. Create the key with that exponent.');
  // The certificate would carry the curve's parameters too (RFC 5480 §2.1.1).
  const [, parameters] = children(children(spki)[0]);
  if (namedCurve !== '' && Array.isArray(parameters?.value))
    throw new Error('Its key has the parameters of its curve instead of the name. Create a key that names its curve.');
  return key;
}

const isSigned = (digest: string, signed: Buffer, key: KeyObject, signature: Buffer): boolean =>
  orElse(() => verify(digest, signed, key, signature), false);

function commonNameOf(subject: Node): string | null {
  for (const part of children(subject).flatMap((set) => children(set))) {
    const [type, value] = children(part);
    if (readOid(type) === COMMON_NAME) return content(value).toString();
  }
  return null;
}

/** The alternative names of the attributes (RFC 2985 §5.4.2). */
function namesOf(attributes: Node | undefined): Pick<SigningRequest, 'dns' | 'ip' | 'others'> {
  const requested = (attributes === undefined ? [] : children(attributes)).filter(
    (attribute) => readOid(children(attribute)[0]) === EXTENSION_REQUEST,
  );
  const lists = requested.flatMap((attribute) => children(children(attribute)[1]).flatMap((list) => children(list)));
  const names = lists
    .filter((extension) => readOid(children(extension)[0]) === EXTENSION.subjectAltName)
    .flatMap((extension) => children(decode(content(children(extension).at(-1)))));
  const dns = names.filter((name) => isContext(name, GENERAL_NAME.dns));
  const ip = names.filter((name) => isContext(name, GENERAL_NAME.ip));
  return {
    dns: dns.map((name) => content(name).toString('latin1')),
    ip: ip.map((name) => formatAddress(content(name))),
    others: names.length - dns.length - ip.length,
  };
}
