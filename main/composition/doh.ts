import {
  DNS_MESSAGE,
  type createDoh,
  type DohAnswer,
  type CheckedQuery,
  checkDohMessage,
  readDohRequest,
} from '../dns/doh.ts';
import { type HttpRequest, isHttp2 } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { MESSAGE_OCTETS_MAX } from '../dns/message-writer.ts';
import { octetsAnswer, refusal, type OwnPath } from '../proxy/own-paths.ts';

/** DNS over HTTPS as a path of the proxy. */
export const dohPath =
  (options: { answer: ReturnType<typeof createDoh>; log: Pick<Log, 'error'> }): OwnPath =>
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
    const fail = (error: unknown): void => {
      options.log.error('A DNS query over HTTPS could not be answered', { error });
      send(refusal(500, 'The DNS query could not be answered.'));
    };
    const reply = (query: CheckedQuery): void => {
      if (query.kind === 'refused') return send(refused(query));
      try {
        const answered = options.answer(query.message);
        if (answered instanceof Promise) answered.then((later) => send(answerOf(later))).catch(fail);
        else send(answered === null ? refusal(400, 'This is not a DNS query.') : answerOf(answered));
      } catch (error) {
        fail(error);
      }
    };
    if (found.kind === 'body') readBody(request, (message) => reply(checkDohMessage(message)));
    else reply(found);
  };

const answerOf = ({ message, maxAgeSeconds }: DohAnswer) =>
  octetsAnswer(200, DNS_MESSAGE, message, ['Cache-Control', `max-age=${maxAgeSeconds}`]);

const refused = ({ status, reason }: CheckedQuery & { kind: 'refused' }) =>
  refusal(status, reason, status === 405 ? ['Allow', 'GET, POST'] : []);

function field({ headers }: HttpRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/**
 * Hands over the body, once; of one that is too large, no more than shows it. Over HTTP/2, it is read from the stream:
 * Node's request would be a second stream with the same data.
 */
function readBody(request: HttpRequest, onBody: (body: Buffer) => void): void {
  const source = isHttp2(request) ? request.stream : request;
  const chunks: Buffer[] = [];
  let octets = 0;
  const done = (): void => {
    // The stream outlives the answer, and would keep the body for so long.
    source.off('data', onData).off('end', done);
    const [only] = chunks;
    onBody(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    octets += chunk.length;
    if (octets > MESSAGE_OCTETS_MAX) done();
  };
  source.on('data', onData).on('end', done);
}
