/** The minimum that a Node server can do over HTTP/2: the given answers, by their targets, from memory. */
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Sample } from '../harness.ts';

const [file = '', key = '', certificate = ''] = process.argv.slice(2);
const given = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Sample>;
const answers = new Map(
  Object.entries(given).map(([target, { status, headers, body }]) => [
    target,
    { fields: { ':status': status, ...headers }, bytes: Buffer.from(body, 'latin1') },
  ]),
);
const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(certificate) });
server.on('stream', (stream, headers) => {
  const answer = answers.get(headers[':path'] ?? '');
  stream.respond(answer?.fields ?? { ':status': 500 });
  stream.end(answer?.bytes);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
process.on('SIGTERM', () => process.exit(0));
