import type { Socket } from 'node:net';
import { FRAME_BYTES_MAX, FRAMES_MAX, type RecordedFrame } from '../../model/exchange-record.ts';
import type { Capture } from '../capture.ts';

/** The longest header of a frame: two bytes, a length of eight, a masking key of four (RFC 6455 §5.2). */
const HEADER_BYTES_MAX = 14;

const NOTHING = Buffer.alloc(0);

interface FrameHeader {
  bytes: number;
  length: number;
  opcode: number;
  final: boolean;
  compressed: boolean;
  key: Buffer | null;
}

/** Reads the frames of one direction of a WebSocket. Payloads are not kept; only their first bytes are copied. */
export class FrameReader {
  readonly #keptMax: number;
  readonly #onFrame: (frame: Omit<RecordedFrame, 'atMs' | 'from'>) => void;
  #head: Buffer = NOTHING;
  #header: FrameHeader | null = null;
  #left = 0;
  #payload: Buffer[] = [];
  #kept = 0;

  constructor(keptMax: number, onFrame: (frame: Omit<RecordedFrame, 'atMs' | 'from'>) => void) {
    this.#keptMax = keptMax;
    this.#onFrame = onFrame;
  }

  read(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#header === null ? this.#readHeader(rest) : this.#readPayload(rest);
  }

  #readHeader(chunk: Buffer): Buffer {
    const before = this.#head.length;
    const part = chunk.subarray(0, HEADER_BYTES_MAX - before);
    const head = before === 0 ? part : Buffer.concat([this.#head, part]);
    const header = parseHeader(head);
    if (header === null) {
      this.#head = Buffer.from(head);
      return chunk.subarray(head.length - before);
    }
    if (before > 0) this.#head = NOTHING;
    this.#header = header;
    this.#left = header.length;
    if (header.length === 0) this.#end(header);
    return chunk.subarray(header.bytes - before);
  }

  #readPayload(chunk: Buffer): Buffer {
    const part = chunk.subarray(0, this.#left);
    const kept = part.subarray(0, this.#keptMax - this.#kept);
    if (kept.length > 0) this.#payload.push(Buffer.from(kept));
    this.#kept += kept.length;
    this.#left -= part.length;
    if (this.#left === 0 && this.#header !== null) this.#end(this.#header);
    return chunk.subarray(part.length);
  }

  #end({ opcode, final, compressed, length, key }: FrameHeader): void {
    const [only = NOTHING] = this.#payload;
    const payload = this.#payload.length > 1 ? Buffer.concat(this.#payload) : only;
    if (key !== null) unmask(payload, key);
    this.#header = null;
    this.#payload = [];
    this.#kept = 0;
    this.#onFrame({ opcode, final, compressed, payload, bytes: length });
  }
}

/** Null if the header is not complete. */
function parseHeader(head: Buffer): FrameHeader | null {
  if (head.length < 2) return null;
  const first = head.readUInt8(0);
  const second = head.readUInt8(1);
  const short = second & 0x7f;
  const masked = second >= 0x80;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const bytes = 2 + lengthBytes + (masked ? 4 : 0);
  if (head.length < bytes) return null;
  const length = short === 127 ? Number(head.readBigUInt64BE(2)) : short === 126 ? head.readUInt16BE(2) : short;
  return {
    bytes,
    length,
    opcode: first & 0x0f,
    final: first >= 0x80,
    // RSV1: permessage-deflate (RFC 7692 §7).
    compressed: (first & 0x40) !== 0,
    key: masked ? Buffer.from(head.subarray(bytes - 4, bytes)) : null,
  };
}

/** RFC 6455 §5.3. */
function unmask(payload: Buffer, key: Buffer): void {
  for (let index = 0; index < payload.length; index++)
    payload[index] = (payload[index] as number) ^ (key[index & 3] as number);
}

/** Limit on WebSockets whose payloads are captured; for the others, frames are recorded without payloads. */
const CAPTURED_MAX = 100;

/** Captures the frames of tunnels, and counts their bytes. Call it before anything reads the two sockets. */
export type FrameWatch = (client: Socket, upstream: Socket, capture: Capture, startedMs: number) => void;

export function createFrameWatch(): FrameWatch {
  let captured = 0;
  return (client, upstream, capture, startedMs) => {
    const keptMax = capture.bodies && captured < CAPTURED_MAX ? FRAME_BYTES_MAX : 0;
    if (keptMax > 0) {
      captured += 1;
      client.once('close', () => (captured -= 1));
    }
    const newest: RecordedFrame[] = [];
    const frames = { newest, total: 0 };
    capture.frames = frames;
    capture.request = { chunks: [], encoding: 'utf8', bytes: 0 };
    const follow = (from: RecordedFrame['from'], socket: Socket, body: { bytes: number }): void => {
      const reader = new FrameReader(keptMax, (frame) => {
        frames.total += 1;
        newest.push({ ...frame, from, atMs: capture.monotonic() - startedMs });
        if (newest.length > FRAMES_MAX) newest.shift();
      });
      socket.on('data', (chunk: Buffer) => {
        body.bytes += chunk.length;
        reader.read(chunk);
      });
    };
    follow('client', client, capture.request);
    follow('upstream', upstream, capture.response);
  };
}
