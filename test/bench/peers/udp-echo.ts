/** The minimum that a UDP server in Node can do: every datagram goes back, marked as a response. */
import { createSocket } from 'node:dgram';

const socket = createSocket('udp4');
socket.on('message', (message, { port, address }) => {
  message[2] = (message[2] ?? 0) | 0x80;
  socket.send(message, port, address);
});
socket.bind(0, '127.0.0.1', () => process.stdout.write(`port ${socket.address().port}\n`));
process.on('SIGTERM', () => process.exit(0));
