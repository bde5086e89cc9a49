import { createServer, type Server } from 'node:https';
import type { SecureContext } from 'node:tls';
import { listen } from '../../support/ports.ts';

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
  return listen(server);
}
