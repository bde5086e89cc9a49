import type { Session } from 'electron';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as open } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { Request as PageRequest, Route } from 'playwright-core';
import { strictly } from './strict.ts';

export type VerifyProc = NonNullable<Parameters<Session['setCertificateVerifyProc']>[0]>;

/** How the pages of a session reach the network. */
export interface Network {
  /** `host:port` */
  proxy: string;
  verify: VerifyProc;
}

/** Chromium's errors for a refusing proxy, and for a certificate that the program refuses. */
class Unreachable extends Error {}

/**
 * Answers a request of a page as Chromium's network service would: through the proxy, with CONNECT for https, and with
 * the program's decision on the certificate. The page follows redirects by itself.
 */
export async function answerOverNetwork(route: Route, network: Network): Promise<void> {
  try {
    const { status, headers, body } = await ask(route.request(), network);
    await route.fulfill({ status, headers, body });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    await route.abort('connectionfailed');
  }
}

async function ask(request: PageRequest, network: Network) {
  const url = new URL(request.url());
  const [host = '', port = ''] = network.proxy.split(':');
  const headers = { ...request.headers(), host: url.host, connection: 'close' };
  const method = request.method();
  const sent =
    url.protocol === 'https:'
      ? open({
          createConnection: await tunnel(url, { host, port: Number(port) }, network.verify),
          method,
          path: url.pathname + url.search,
          headers,
        })
      : open({ host, port, method, path: url.href, headers });
  sent.end(request.postDataBuffer() ?? undefined);
  const response = await answerOf(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const entries = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(entries), body: Buffer.concat(chunks) };
}

async function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

/** A connection to `url` through the proxy, whose certificate the program has accepted. */
async function tunnel(url: URL, proxy: { host: string; port: number }, verify: VerifyProc): Promise<() => TLSSocket> {
  const authority = `${url.hostname}:${url.port === '' ? 443 : url.port}`;
  const asked = open({ ...proxy, method: 'CONNECT', path: authority, headers: { host: authority }, agent: false });
  asked.end();
  const [response, socket] = (await once(asked, 'connect')) as [IncomingMessage, Socket];
  if (response.statusCode !== 200) {
    socket.destroy();
    throw new Unreachable(`The proxy answered ${response.statusCode} for ${authority}.`);
  }
  // Chromium verifies by itself, and asks the program to judge the result.
  const secured = connect({ socket, servername: url.hostname, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  await once(secured, 'secureConnect');
  if (!(await isAccepted(secured, url.hostname, verify))) {
    secured.destroy();
    throw new Unreachable(`The program refused the certificate of ${url.hostname}.`);
  }
  return () => secured;
}

function isAccepted(secured: TLSSocket, hostname: string, verify: VerifyProc): Promise<boolean> {
  const shown = secured.getPeerX509Certificate();
  const certificate = strictly('the certificate of a request', {
    data: shown?.toString() ?? '',
    issuerName: shown?.issuer ?? '',
  });
  const request = strictly('a request to verify a certificate', { hostname, certificate });
  return new Promise((resolve) =>
    // 0 accepts, -2 refuses, -3 leaves it to Chromium, which does not know our root.
    verify(request as unknown as Parameters<VerifyProc>[0], (result) => resolve(result === 0)),
  );
}
