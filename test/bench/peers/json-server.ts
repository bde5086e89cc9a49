/** json-server over a file of pets, without its logger, which would cost most of its speed. */
import type { AddressInfo, Server } from 'node:net';
import { createRequire } from 'node:module';

interface JsonServer {
  create(): { use(handler: unknown): void; listen(port: number, host: string, ready: () => void): Server };
  router(file: string): unknown;
  defaults(options: { logger: boolean }): unknown;
}

const jsonServer = createRequire(import.meta.url)('json-server') as JsonServer;
const app = jsonServer.create();
app.use(jsonServer.defaults({ logger: false }));
app.use(jsonServer.router(process.argv[2] ?? ''));
const server = app.listen(0, '127.0.0.1', () =>
  process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`),
);
process.on('SIGTERM', () => process.exit(0));
