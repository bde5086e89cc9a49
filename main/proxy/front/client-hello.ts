import { isIP } from 'node:net';
import { normalizeHostname } from '../../base/text/hostname.ts';

/**
 * The first bytes of a connection. `serverName` is the hostname of the server_name extension in normal form, or null
 * without one. `unusable_name`: the extension holds no valid hostname. `unexpected`: TLS, but another message than a
 * ClientHello. `overflow`: a record beyond the limit.
 */
export type ClientHelloResult =
  | { kind: 'hello'; serverName: string | null }
  | { kind: 'unusable_name' }
  | { kind: 'incomplete' }
  | { kind: 'malformed' | 'unexpected' | 'overflow' }
  | { kind: 'not_tls' };

/** Chrome's hello with post-quantum key shares has about 1,800 bytes, so this leaves ample room. */
export const CLIENT_HELLO_BYTES_MAX = 16 * 1024;

const RECORD_HANDSHAKE = 22;
const RECORD_HEADER_BYTES = 5;
/** RFC 8446 §5.1. */
const RECORD_PAYLOAD_BYTES_MAX = 1 << 14;
const HANDSHAKE_CLIENT_HELLO = 1;
const HANDSHAKE_HEADER_BYTES = 4;
const EXTENSION_SERVER_NAME = 0;
const NAME_TYPE_HOST_NAME = 0;

const INCOMPLETE: ClientHelloResult = { kind: 'incomplete' };
const MALFORMED: ClientHelloResult = { kind: 'malformed' };
const UNEXPECTED: ClientHelloResult = { kind: 'unexpected' };

/** The other content types: change_cipher_spec, alert, application_data, heartbeat. No text begins with one. */
const OTHER_RECORDS: ReadonlySet<number> = new Set([20, 21, 23, 24]);

/**
 * Reads a TLS ClientHello (RFC 8446 §4.1.2) up to its server_name extension (RFC 6066 §3) from all bytes received so
 * far. The hello may span several records. OpenSSL validates the rest.
 */
export function readClientHello(bytes: Buffer): ClientHelloResult {
  if (bytes.length === 0) return INCOMPLETE;
  if (OTHER_RECORDS.has(bytes[0] ?? 0)) return UNEXPECTED;
  if (bytes[0] !== RECORD_HANDSHAKE) return { kind: 'not_tls' };
  const message = collectMessage(bytes);
  return Buffer.isBuffer(message) ? readMessage(message) : message;
}

/** The handshake message without its header, reassembled from its records. */
function collectMessage(bytes: Buffer): Buffer | ClientHelloResult {
  const fragments: Buffer[] = [];
  let collected = 0;
  let offset = 0;
  let wanted = HANDSHAKE_HEADER_BYTES;
  while (collected < wanted) {
    if (offset + RECORD_HEADER_BYTES > bytes.length) return incomplete(bytes);
    const length = bytes.readUInt16BE(offset + 3);
    if (bytes[offset] !== RECORD_HANDSHAKE) return UNEXPECTED;
    if (bytes[offset + 1] !== 3) return MALFORMED;
    // RFC 8446 §5.1 forbids empty handshake records, which could prolong a hello without end.
    if (length === 0) return UNEXPECTED;
    if (length > RECORD_PAYLOAD_BYTES_MAX) return { kind: 'overflow' };
    const start = offset + RECORD_HEADER_BYTES;
    const fragment = bytes.subarray(start, start + length);
    fragments.push(fragment);
    collected += fragment.length;
    if (collected >= HANDSHAKE_HEADER_BYTES && wanted === HANDSHAKE_HEADER_BYTES) {
      const header = fragments.length === 1 ? fragment : Buffer.concat(fragments);
      if (header[0] !== HANDSHAKE_CLIENT_HELLO) return UNEXPECTED;
      wanted += header.readUIntBE(1, 3);
      if (wanted > CLIENT_HELLO_BYTES_MAX) return MALFORMED;
    }
    if (fragment.length < length && collected < wanted) return incomplete(bytes);
    offset = start + length;
  }
  const message = fragments.length === 1 ? (fragments[0] as Buffer) : Buffer.concat(fragments);
  return message.subarray(HANDSHAKE_HEADER_BYTES, wanted);
}

const incomplete = (bytes: Buffer): ClientHelloResult =>
  bytes.length < CLIENT_HELLO_BYTES_MAX ? INCOMPLETE : MALFORMED;

/** Reads length-prefixed fields from the front of a message; sets `failed` if a field exceeds its end. */
class Fields {
  readonly #bytes: Buffer;
  #offset = 0;
  failed = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.failed || this.#offset >= this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#offset + length;
    if (end > this.#bytes.length) {
      this.failed = true;
      return Buffer.alloc(0);
    }
    const field = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return field;
  }

  number(bytes: 1 | 2): number {
    const field = this.take(bytes);
    return this.failed ? 0 : field.readUIntBE(0, bytes);
  }

  /** A vector: a length of `prefix` bytes, then that many bytes. */
  vector(prefix: 1 | 2): Buffer {
    return this.take(this.number(prefix));
  }
}

function readMessage(message: Buffer): ClientHelloResult {
  const hello = new Fields(message);
  // legacy_version and random, legacy_session_id, cipher_suites, legacy_compression_methods.
  hello.take(2 + 32);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.failed) return MALFORMED;
  // TLS 1.2 allows a hello that ends here.
  if (hello.atEnd) return { kind: 'hello', serverName: null };
  const extensions = new Fields(hello.vector(2));
  let names: Buffer | null = null;
  while (!hello.failed && !extensions.atEnd) {
    const type = extensions.number(2);
    const data = extensions.vector(2);
    if (type !== EXTENSION_SERVER_NAME) continue;
    // RFC 8446 §4.2: at most one extension of each type.
    if (names !== null) return MALFORMED;
    names = data;
  }
  if (hello.failed || extensions.failed || !hello.atEnd) return MALFORMED;
  return names === null ? { kind: 'hello', serverName: null } : readServerName(names);
}

function readServerName(data: Buffer): ClientHelloResult {
  const extension = new Fields(data);
  const list = new Fields(extension.vector(2));
  const type = list.number(1);
  const name = list.vector(2);
  if (extension.failed || list.failed || name.length === 0) return MALFORMED;
  // Exactly one name, of the only defined type (RFC 6066 §3).
  if (!extension.atEnd || !list.atEnd || type !== NAME_TYPE_HOST_NAME) return MALFORMED;
  const text = name.toString('latin1');
  // RFC 6066 §3 forbids addresses here; clients that send one are treated as if they sent no name.
  if (isIP(text) !== 0) return { kind: 'hello', serverName: null };
  const normal = normalizeHostname(text);
  // `normalizeHostname` would convert Latin-1 letters to an A-label that the client never sent.
  return normal.ok && /^[\x21-\x7e]+$/.test(text)
    ? { kind: 'hello', serverName: normal.hostname }
    : { kind: 'unusable_name' };
}
