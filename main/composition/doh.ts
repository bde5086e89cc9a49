import { DNS_MESSAGE, type DohAnswer, type DohQuery, checkDohMessage, readDohRequest } from '../dns/doh.ts';
import type { HttpRequest } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { MESSAGE_OCTETS_MAX } from '../dns/message-writer.ts';
import { octetsAnswer, refusal, type OwnPath } from '../proxy/own-paths.ts';

/** DNS over HTTPS as a path of the proxy. */
export const dohPath =
  (options: { answer: (message: Buffer) => Promise<DohAnswer | null>; log: Pick<Log, 'error'> }): OwnPath =>
  (request, scheme, send) => {
    const found = readDohRequest({
      method: request.method ?? '',
      target: request.url ?? '',
      scheme,
      authority: field(request, ':authority') ?? field(request, 'host') ?? '',
      contentType: field(request, 'content-type'),
      origin: field(request, 'origin'),
      fetchSite: field(request, 'sec-fetch-site'),
    });
    const reply = async (): Promise<void> => {
      const query = found.kind === 'body' ? await readBody(request) : found;
      if (query.kind === 'body') return;
      const answered = query.kind === 'message' ? await options.answer(query.message) : null;
      if (query.kind === 'refused') send(refused(query));
      else if (answered === null) send(refusal(400, 'This is not a DNS query.'));
      else {
        const kept = ['Cache-Control', `max-age=${answered.maxAgeSeconds}`];
        send(octetsAnswer(200, DNS_MESSAGE, answered.message, kept));
      }
    };
    reply().catch((error: unknown) => {
      options.log.error('A DNS query over HTTPS could not be answered', { error });
      send(refusal(500, 'The DNS query could not be answered.'));
    });
  };

const refused = ({ status, reason }: DohQuery & { kind: 'refused' }) =>
  refusal(status, reason, status === 405 ? ['Allow', 'GET, POST'] : []);

function field({ headers }: HttpRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The message in the body; of one that is too large, no more than shows it. `body`: the client is gone. */
function readBody(request: HttpRequest): Promise<DohQuery> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    const done = (): void => {
      request.off('data', onData).off('end', done);
      resolve(checkDohMessage(Buffer.concat(chunks)));
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      octets += chunk.length;
      if (octets > MESSAGE_OCTETS_MAX) done();
    };
    request.on('data', onData).on('end', done);
    request.once('close', () => resolve({ kind: 'body' }));
  });
}
