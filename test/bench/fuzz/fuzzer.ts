import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Vivarium } from '../harness.ts';

export interface FuzzTarget {
  vivarium: Vivarium;
  projectId: string;
  secret: string;
  /** A hostname of the built-in API, and one of an upstream. */
  apiHost: string;
  upstreamHost: string;
}

/** Draws numbers below a limit; the same seed gives the same numbers. */
export type Random = (below: number) => number;

/** One kind of input. */
export interface Fuzzer {
  name: string;
  share: number;
  /**
   * Sends `count` mutated messages, all drawn from `random` in the same order in each run. Returns the answers that
   * admit a fault of Vivarium (500).
   */
  run(target: FuzzTarget, random: Random, count: number): Promise<number>;
}

/** The number of concurrent connections. */
const PARALLEL = 32;

/** A server that waits for the rest of a message sends nothing; this is how long an answer may take. */
const QUIET_MS = 60;
const CONVERSATION_MS_MAX = 1_000;

/**
 * Runs `job` for each index below `count`, several at a time. A job draws its random numbers before it first awaits.
 */
export async function inParallel(count: number, job: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/**
 * Sends the pieces one after the other, and returns what arrived until the end of the stream or until it went quiet.
 */
export function sendPieces(open: () => Socket, pieces: readonly Buffer[]): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = open();
    const heard: Buffer[] = [];
    const end = (): void => {
      clearTimeout(quiet);
      clearTimeout(limit);
      socket.destroy();
      resolve(Buffer.concat(heard));
    };
    let quiet = setTimeout(end, CONVERSATION_MS_MAX);
    const limit = setTimeout(end, CONVERSATION_MS_MAX);
    const wait = (): void => {
      clearTimeout(quiet);
      quiet = setTimeout(end, QUIET_MS);
    };
    socket.on('data', (chunk: Buffer) => {
      heard.push(chunk);
      wait();
    });
    socket.on('error', end);
    socket.on('close', end);
    socket.once('ready', () => {
      for (const piece of pieces) socket.write(piece);
      wait();
    });
  });
}

export const plain = (port: number) => (): Socket => connect(port, '127.0.0.1').setNoDelay(true);

export const secure = (port: number, servername: string, protocol: 'h2' | 'http/1.1') => (): Socket => {
  const options = { port, host: '127.0.0.1', servername, ALPNProtocols: [protocol], rejectUnauthorized: false };
  const socket = connectTls(options);
  socket.once('secureConnect', () => socket.emit('ready'));
  return socket;
};

/** Splits bytes at a few random offsets, as a network may. */
export function split(bytes: Buffer, random: Random): Buffer[] {
  const at = [0, ...Array.from({ length: random(3) }, () => random(bytes.length + 1)).sort((a, b) => a - b)];
  return at.map((start, index) => bytes.subarray(start, at[index + 1] ?? bytes.length));
}

/** The port of a listening server. */
export const portIn = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0;
