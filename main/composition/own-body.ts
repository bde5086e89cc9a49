import type { Readable } from 'node:stream';

/** Hands over the body, once; of one that is too large, no more than shows it. */
export function readBody(source: Readable, octetsMax: number, onBody: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let octets = 0;
  const done = (): void => {
    // The stream outlives the answer, and would keep the body for so long.
    source.off('data', onData).off('end', done);
    const [only] = chunks;
    onBody(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    octets += chunk.length;
    if (octets > octetsMax) done();
  };
  source.on('data', onData).on('end', done);
}
