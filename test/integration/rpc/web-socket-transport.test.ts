import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { createWebSocketTransport } from '../../../renderer/connection/web-socket.ts';
import { browserTime } from '../../../renderer/shared/time/real-time.ts';

it('abandons a connection whose engine has stopped, with the calls that wait for it', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'vivarium' });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  // Neither reads nor writes, as after SIGSTOP; the closing handshake stays unanswered.
  server.on('connection', (socket) => socket.pause());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = createWebSocketTransport({ origin: `http://127.0.0.1:${port}`, token: 'x', time: browserTime });
  const opened = await transport.open();
  const call = opened.link.call(['status', 'get'], undefined, { context: {} });
  opened.close();
  await opened.closed;
  await expect(call).rejects.toThrow();
});
