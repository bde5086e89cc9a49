import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContext } from 'node:tls';
import { onTestFinished } from 'vitest';

/** An HTTPS server on a free port of 127.0.0.1, closed after the test; it answers with the requested name. */
export async function startHttpsServer(contextFor: (hostname: string) => SecureContext): Promise<{ port: number }> {
  const server: Server = createServer(
    {
      SNICallback: (hostname, done) => {
        try {
          done(null, contextFor(hostname));
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)));
        }
      },
    },
    (request, response) => response.end(`served to ${request.headers.host ?? 'nobody'}`),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port };
}
