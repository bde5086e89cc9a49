import { createHmac, timingSafeEqual } from 'node:crypto';
import { wireLength, wireName, type DomainName } from '../../model/dns-name.ts';
import { CLASS_ANY, QUESTION_TYPES } from '../wire/record.ts';
import { MessageFault, unlessMalformed, WireReader } from '../wire/wire-reader.ts';

/** A TSIG record read from a message (RFC 8945 §4.2). */
export interface Tsig {
  /** Where the record begins in its message. */
  start: number;
  key: DomainName;
  algorithm: DomainName;
  /** Seconds since the epoch. */
  timeSeconds: number;
  fudgeSeconds: number;
  mac: Buffer;
  originalId: number;
}

/** The names of algorithms (RFC 8945 §6) with Node's names of their hashes; a key works with each of them. */
const HASHES = new Map([
  ['hmac-sha256', 'sha256'],
  ['hmac-sha384', 'sha384'],
  ['hmac-sha512', 'sha512'],
]);

/** RFC 8945 §3. */
const ERRORS = { none: 0, badSignature: 16, badKey: 17, badTime: 18, badTruncation: 22 } as const;

/** RFC 8945 §5.2.2.1: a shorter MAC is a format error. */
const MAC_OCTETS_MIN = 10;

/** An upper bound for the size of the reply's record: its names, the fixed fields, a MAC of SHA-512, and a time. */
export const tsigOctets = ({ key, algorithm }: Tsig): number =>
  wireLength(key) + wireLength(algorithm) + 10 + 16 + 64 + 6;

/** Reads messages that may end with a TSIG record. */
export class SignedReader extends WireReader {
  /** Reads a record of the additional section; null unless it is TSIG. */
  protected additional(): { type: number; tsig: Tsig | null } {
    const start = this.offset;
    const key = this.name();
    const type = this.uint16();
    this.octets(6);
    const end = this.uint16() + this.offset;
    if (end > this.message.length) throw new MessageFault();
    if (type !== QUESTION_TYPES.TSIG) {
      this.offset = end;
      return { type, tsig: null };
    }
    const algorithm = this.name();
    const timeSeconds = this.octets(6).readUIntBE(0, 6);
    const fudgeSeconds = this.uint16();
    const mac = Buffer.from(this.octets(this.uint16()));
    const originalId = this.uint16();
    this.octets(2);
    this.octets(this.uint16());
    if (this.offset !== end) throw new MessageFault();
    return { type, tsig: { start, key, algorithm, timeSeconds, fudgeSeconds, mac, originalId } };
  }
}

/** The TSIG record at `start` of a message; null when malformed. */
export const readTsig = (message: Buffer, start: number): Tsig | null =>
  unlessMalformed(() => new TsigReader(message).at(start));

class TsigReader extends SignedReader {
  at(start: number): Tsig | null {
    this.offset = start;
    return this.additional().tsig;
  }
}

/** The result of a check. `sign` appends the TSIG record that the reply needs. */
export type Signature =
  | { kind: 'valid' | 'refused'; sign: (reply: Buffer) => Buffer }
  /** A MAC of an invalid length. */
  | { kind: 'malformed' };

/**
 * Checks the signature of a request (RFC 8945 §5.2): key, MAC, then time.
 *
 * @param secret the secret of the key with that name; null for an unknown key
 * @param nowMs real time, because other programs sign with theirs
 */
export function checkTsig(message: Buffer, tsig: Tsig, secret: Buffer | null, nowMs: number): Signature {
  const hash = HASHES.get(tsig.algorithm);
  const refused = (error: number, key: SigningKey | null): Signature => ({
    kind: 'refused',
    sign: (reply) => appendTsig(reply, tsig, { error, key, nowMs }),
  });
  if (secret === null || hash === undefined) return refused(ERRORS.badKey, null);
  const key = { secret, hash };
  const expected = macOf(key, [unsigned(message, tsig), variables(tsig, ERRORS.none)]);
  const { mac } = tsig;
  if (mac.length > expected.length || mac.length < Math.max(MAC_OCTETS_MIN, expected.length / 2)) {
    return { kind: 'malformed' };
  }
  if (!timingSafeEqual(mac, expected.subarray(0, mac.length))) return refused(ERRORS.badSignature, null);
  if (mac.length < expected.length) return refused(ERRORS.badTruncation, key);
  const apartSeconds = Math.abs(Math.floor(nowMs / 1000) - tsig.timeSeconds);
  if (apartSeconds > tsig.fudgeSeconds) return refused(ERRORS.badTime, key);
  return { kind: 'valid', sign: (reply) => appendTsig(reply, tsig, { error: ERRORS.none, key, nowMs }) };
}

interface SigningKey {
  secret: Buffer;
  hash: string;
}

const macOf = ({ secret, hash }: SigningKey, parts: readonly Buffer[]): Buffer =>
  createHmac(hash, secret).update(Buffer.concat(parts)).digest();

/** RFC 8945 §4.3.2: the message without its TSIG record, with its original id. */
function unsigned(message: Buffer, { start, originalId }: Tsig): Buffer {
  const copy = Buffer.from(message.subarray(0, start));
  copy.writeUInt16BE(originalId, 0);
  copy.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
  return copy;
}

type Signed = Pick<Tsig, 'key' | 'algorithm' | 'timeSeconds' | 'fudgeSeconds'>;

/** RFC 8945 §4.3.3. */
function variables(
  { key, algorithm, timeSeconds, fudgeSeconds }: Signed,
  error: number,
  other: Buffer = NOTHING,
): Buffer {
  return Buffer.concat([
    wireName(key),
    uint(2, CLASS_ANY),
    uint(4, 0),
    wireName(algorithm),
    uint(6, timeSeconds),
    uint(2, fudgeSeconds),
    uint(2, error),
    uint(2, other.length),
    other,
  ]);
}

/** RFC 8945 §5.3: no MAC if the key or its MAC was wrong; the server's time if the time was wrong. */
function appendTsig(
  reply: Buffer,
  asked: Tsig,
  { error, key, nowMs }: { error: number; key: SigningKey | null; nowMs: number },
): Buffer {
  const nowSeconds = Math.floor(nowMs / 1000);
  const isLate = error === ERRORS.badTime;
  const other = isLate ? uint(6, nowSeconds) : NOTHING;
  const signed = { ...asked, timeSeconds: isLate ? asked.timeSeconds : nowSeconds };
  const mac =
    key === null ? NOTHING : macOf(key, [uint(2, asked.mac.length), asked.mac, reply, variables(signed, error, other)]);
  const data = Buffer.concat([
    wireName(asked.algorithm),
    uint(6, signed.timeSeconds),
    uint(2, asked.fudgeSeconds),
    uint(2, mac.length),
    mac,
    uint(2, asked.originalId),
    uint(2, error),
    uint(2, other.length),
    other,
  ]);
  const head = Buffer.from(reply);
  head.writeUInt16BE(reply.readUInt16BE(10) + 1, 10);
  return Buffer.concat([
    head,
    wireName(asked.key),
    uint(2, QUESTION_TYPES.TSIG),
    uint(2, CLASS_ANY),
    uint(4, 0),
    uint(2, data.length),
    data,
  ]);
}

const NOTHING = Buffer.alloc(0);

function uint(octets: number, value: number): Buffer {
  const buffer = Buffer.alloc(octets);
  buffer.writeUIntBE(value, 0, octets);
  return buffer;
}
