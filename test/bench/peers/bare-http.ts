/** The minimum that a Node server can do: the given answers, by their targets, from memory. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sample } from '../harness.ts';

const given = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Record<string, Sample>;
const answers = new Map(
  Object.entries(given).map(([target, answer]) => [target, { ...answer, bytes: Buffer.from(answer.body, 'latin1') }]),
);
const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '');
  response.writeHead(answer?.status ?? 500, answer?.headers);
  response.end(answer?.bytes);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
process.on('SIGTERM', () => process.exit(0));
