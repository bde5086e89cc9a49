/** ClientHello messages by hand (RFC 8446 §4.1.2), well-formed or not. */

/** `bytes` after their length in `prefix` bytes. */
export function vector(prefix: 1 | 2 | 3, bytes: Buffer): Buffer {
  const length = Buffer.alloc(prefix);
  length.writeUIntBE(bytes.length, 0, prefix);
  return Buffer.concat([length, bytes]);
}

export function extension(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(type);
  return Buffer.concat([head, vector(2, data)]);
}

export function serverNameExtension(name: string | Buffer): Buffer {
  const entry = Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name))]);
  return extension(0, vector(2, entry));
}

/** RFC 8701: a reserved value that a server must ignore. */
export const GREASE_EXTENSION = extension(0x1a1a, Buffer.from([0]));

export function buildClientHello(options: {
  /** Null omits the extensions altogether. */
  extensions: readonly Buffer[] | null;
  sessionId?: Buffer;
  trailing?: Buffer;
}): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 1),
    vector(1, options.sessionId ?? Buffer.alloc(0)),
    vector(2, Buffer.from('0a0a130113021303', 'hex')),
    vector(1, Buffer.from([0])),
    options.extensions === null ? Buffer.alloc(0) : vector(2, Buffer.concat(options.extensions)),
    options.trailing ?? Buffer.alloc(0),
  ]);
  return Buffer.concat([Buffer.from([1]), vector(3, body)]);
}

/** One handshake record. */
export function record(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22, 3, 1]), vector(2, payload)]);
}

/** `message` in handshake records of `size` bytes each. */
export function records(message: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < message.length; start += size) parts.push(record(message.subarray(start, start + size)));
  return Buffer.concat(parts);
}
