import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { on } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Builds the names, types and counts of a message octet by octet, to allow malformed ones. */
export interface MessageFields {
  id?: number;
  flags?: number;
  /** Text with dots; or the name's octets as they are. */
  name?: string | Buffer;
  type?: number;
  class?: number;
  counts?: [number, number, number, number];
  /** What follows the question. */
  rest?: Buffer;
}

export const RD = 0x0100;

/** A query for `name`; every part can be replaced. */
export function message(fields: MessageFields = {}): Buffer {
  const rest = fields.rest ?? Buffer.alloc(0);
  const counts = fields.counts ?? [1, 0, 0, rest.length > 0 ? 1 : 0];
  const header = Buffer.alloc(12);
  [fields.id ?? 0x1234, fields.flags ?? RD, ...counts].forEach((value, index) =>
    header.writeUInt16BE(value, index * 2),
  );
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(fields.type ?? 1, 0);
  tail.writeUInt16BE(fields.class ?? 1, 2);
  const name = fields.name ?? 'www.acme.test';
  return Buffer.concat([header, typeof name === 'string' ? wireName(name) : name, tail, rest]);
}

export const wireName = (text: string): Buffer =>
  Buffer.concat([
    ...text
      .split('.')
      .filter((label) => label !== '')
      .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);

/** An OPT record. */
export function opt(
  fields: { udpOctets?: number; version?: number; flags?: number; options?: Buffer; name?: Buffer } = {},
): Buffer {
  const options = fields.options ?? Buffer.alloc(0);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(41, 0);
  fixed.writeUInt16BE(fields.udpOctets ?? 1232, 2);
  fixed.writeUInt8(fields.version ?? 0, 5);
  fixed.writeUInt16BE(fields.flags ?? 0, 6);
  fixed.writeUInt16BE(options.length, 8);
  return Buffer.concat([fields.name ?? Buffer.from([0]), fixed, options]);
}

/** A message with its two octets of length, as in TCP. */
export function framed(octets: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(octets.length);
  return Buffer.concat([length, octets]);
}

const RCODE_NAMES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

/** The contents of a reply's header. */
export function headerOf(reply: Buffer) {
  const flags = reply.readUInt16BE(2);
  return {
    id: reply.readUInt16BE(0),
    qr: (flags & 0x8000) !== 0,
    opcode: (flags >>> 11) & 0xf,
    aa: (flags & 0x0400) !== 0,
    tc: (flags & 0x0200) !== 0,
    rcode: RCODE_NAMES[flags & 0xf] ?? String(flags & 0xf),
    counts: [4, 6, 8, 10].map((offset) => reply.readUInt16BE(offset)),
  };
}

/** A UDP socket that returns replies in order of arrival. */
export class UdpClient {
  readonly #socket: UdpSocket;
  readonly #port: number;
  readonly #address: string;
  readonly #replies: AsyncIterator<[Buffer]>;

  constructor(port: number, address = '127.0.0.1') {
    this.#port = port;
    this.#address = address;
    this.#socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    this.#replies = on(this.#socket, 'message') as AsyncIterator<[Buffer]>;
  }

  send(octets: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(octets, this.#port, this.#address, (error) => (error ? reject(error) : resolve()));
    });
  }

  async reply(): Promise<Buffer> {
    return (await this.#replies.next()).value[0];
  }

  async ask(octets: Buffer): Promise<Buffer> {
    await this.send(octets);
    return this.reply();
  }

  close(): void {
    this.#socket.close();
  }
}

/** A TCP connection that returns replies without their length prefix. */
export class TcpClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  readonly #waiting: { resolve: (reply: Buffer) => void; reject: (error: Error) => void }[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#hand();
    });
    void this.closed.then(() => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('The connection was closed.'));
    });
  }

  static open(port: number, address = '127.0.0.1'): Promise<TcpClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: address });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new TcpClient(socket));
      });
    });
  }

  /** Resolves when the system has accepted the octets. */
  write(octets: Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(octets, () => resolve()));
  }

  reply(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#hand();
      if (this.socket.destroyed) reject(new Error('The connection was closed.'));
    });
  }

  async ask(octets: Buffer): Promise<Buffer> {
    await this.write(framed(octets));
    return this.reply();
  }

  close(): void {
    this.socket.destroy();
  }

  #hand(): void {
    while (this.#waiting.length > 0 && this.#received.length >= 2) {
      const end = 2 + this.#received.readUInt16BE(0);
      if (this.#received.length < end) return;
      this.#waiting.shift()?.resolve(this.#received.subarray(2, end));
      this.#received = this.#received.subarray(end);
    }
  }
}
