import type { MessagePortMain } from 'electron';
import { fault } from './driver.ts';
import { StrictEmitter, strictly } from './strict.ts';

/** A value on its way between Chromium and this process: what survives is what the structured clone algorithm keeps. */
export type Carried = { text: string } | { json: string } | { bytes: string };

export function pack(value: unknown): Carried {
  if (typeof value === 'string') return { text: value };
  if (value instanceof ArrayBuffer) return { bytes: Buffer.from(value).toString('base64') };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return { json: JSON.stringify(value) };
  return fault(`carries texts, bytes, numbers, booleans and null through message ports, not ${typeof value}.`);
}

export function unpack(carried: Carried): unknown {
  if ('text' in carried) return carried.text;
  if ('json' in carried) return JSON.parse(carried.json) as unknown;
  return new Uint8Array(Buffer.from(carried.bytes, 'base64'));
}

/** Where the other end is: in a world of a page. */
export interface FarEnd {
  send(message: Carried): void;
  close(): void;
}

/** The main process's end of a page's port. Messages wait until `start` is called, as documented. */
export class StandInPort extends StrictEmitter implements Pick<MessagePortMain, 'postMessage' | 'start' | 'close'> {
  readonly facade = strictly('MessagePortMain', this);
  readonly #far: FarEnd;
  #waiting: unknown[] | null = [];
  #closed = false;

  constructor(far: FarEnd) {
    super('MessagePortMain', ['message', 'close']);
    this.#far = far;
  }

  postMessage(message: unknown, transfer?: unknown[]): void {
    if (transfer !== undefined && transfer.length > 0) fault('does not transfer ports out of the main process.');
    if (!this.#closed) this.#far.send(pack(message));
  }

  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const data of waiting) this.#deliver(data);
  }

  close(): void {
    if (this.#closed) return;
    this.#far.close();
    this.disconnected();
  }

  receive(data: unknown): void {
    if (this.#waiting === null) this.#deliver(data);
    else this.#waiting.push(data);
  }

  /** The other end has closed, or this one was closed: either way `close` is emitted once. */
  disconnected(): void {
    if (this.#closed) return;
    this.#closed = true;
    setImmediate(() => this.emit('close'));
  }

  #deliver(data: unknown): void {
    if (!this.#closed) this.emit('message', { data, ports: [] });
  }
}
