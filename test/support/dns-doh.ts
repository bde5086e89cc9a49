import { createSocket } from 'node:dgram';

/** The reply to one message over UDP, octet by octet. */
export function askUdp(port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('message', (reply) => {
      socket.close();
      resolve(reply);
    });
    socket.send(message, port, '127.0.0.1');
  });
}
