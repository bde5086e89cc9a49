import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * Carries TLS over a socket that outlives it: Node destroys what a refused handshake ran on at once, with what the client
 * still sends unread, so that the client sees a reset in place of the alert. `onDestroyed` has the socket then, without
 * listeners for its data. Costs a copy in JavaScript of each chunk: for rare handshakes only.
 */
export function lingeringTransport(raw: Socket, onDestroyed: () => void): Duplex {
  const onData = (chunk: Buffer): void => {
    if (!transport.push(chunk)) raw.pause();
  };
  const transport = new Duplex({
    read: () => void raw.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (raw.write(chunk)) done();
      else raw.once('drain', () => done());
    },
    final: (done) => void raw.end(() => done()),
    destroy(_error, done) {
      raw.removeListener('data', onData);
      onDestroyed();
      done(null);
    },
  });
  raw.on('data', onData);
  raw.on('end', () => transport.push(null));
  raw.on('close', () => transport.destroy());
  return transport;
}
