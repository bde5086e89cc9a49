/** The minimum that an HTTP/2 server in Node can do over TLS: it echoes the body of each request. */
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

const [key, cert] = process.argv.slice(2).map((file) => readFileSync(file));
const server = createSecureServer({ key, cert });
server.on('stream', (stream, { 'content-type': type }) => {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => {
    const body = Buffer.concat(chunks);
    stream.respond({ ':status': 200, 'content-type': type, 'content-length': body.length });
    stream.end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
process.on('SIGTERM', () => process.exit(0));
