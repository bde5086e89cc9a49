import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { framed, wireName } from './dns-client.ts';

/** Reaction of a fake DNS server to each query in turn; the last one repeats. Null: no reply. */
export type Behaviour = (query: Buffer, transport: 'udp' | 'tcp') => Buffer | Buffer[] | null;

/** A scripted DNS server on a free port, UDP and TCP, with the transports of its queries; closed after the test. */
export async function startFakeDns(...behaviours: Behaviour[]) {
  const seen: ('udp' | 'tcp')[] = [];
  const answer = (query: Buffer, transport: 'udp' | 'tcp'): Buffer[] => {
    const behaviour = behaviours[Math.min(seen.length, behaviours.length - 1)];
    seen.push(transport);
    return [behaviour?.(query, transport) ?? []].flat();
  };
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const replies = answer(chunk.subarray(2), 'tcp');
      if (replies.length === 0) socket.end();
      for (const reply of replies) socket.write(framed(reply));
    });
    onTestFinished(() => void socket.destroy());
  });
  onTestFinished(() => void tcp.close());
  const { port, udp } = await bindBoth(tcp);
  onTestFinished(() => void udp.close());
  udp.on('message', (query, from) => {
    for (const reply of answer(query, 'udp')) udp.send(reply, from.port, from.address);
  });
  return { address: '127.0.0.1', port, seen };
}

/** One port for both: a port that the system assigns for TCP may be another test's for UDP. */
async function bindBoth(tcp: Server, attempts = 10): Promise<{ port: number; udp: Socket }> {
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4');
  try {
    await once(udp.bind(port, '127.0.0.1'), 'listening');
    return { port, udp };
  } catch (error) {
    udp.close();
    if (attempts === 1) throw error;
    await new Promise((resolve) => tcp.close(resolve));
    return bindBoth(tcp, attempts - 1);
  }
}

export interface ReplyFields {
  id?: number;
  /** Besides QR. */
  flags?: number;
  /** Octets of the answer section's records, and their count. */
  answer?: Buffer[];
  additional?: Buffer[];
  question?: Buffer;
}

/** A reply to a query; every part can be replaced by a wrong one. */
export function replyTo(query: Buffer, fields: ReplyFields = {}): Buffer {
  const { answer = [], additional = [] } = fields;
  const end = query.indexOf(0, 12) + 5;
  const question = fields.question ?? query.subarray(12, end);
  const header = Buffer.alloc(12);
  const id = fields.id ?? query.readUInt16BE(0);
  const counts = [question.length > 0 ? 1 : 0, answer.length, 0, additional.length];
  [id, 0x8000 | (fields.flags ?? 0), ...counts].forEach((value, index) => header.writeUInt16BE(value, index * 2));
  return Buffer.concat([header, question, ...answer, ...additional]);
}

/** A record; its name points at the question by default. */
export function record(type: number, data: Buffer, name: Buffer = Buffer.from([0xc0, 12])): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(300, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, fixed, data]);
}

export const question = (name: string, type: number): Buffer =>
  Buffer.concat([wireName(name), Buffer.from([0, type, 0, 1])]);
