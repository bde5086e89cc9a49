/** The minimum that Node can do: every request forwarded to one upstream over kept connections. */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const [url = ''] = process.argv.slice(2);
const upstream = new URL(url);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, response) => {
  const outgoing = request(
    {
      host: upstream.hostname,
      port: upstream.port,
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
      agent,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.destroy());
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  incoming.pipe(outgoing);
});
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));
