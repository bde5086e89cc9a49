import { join } from 'node:path';
import { loadPageTemplate, type PageTemplate } from '../base/http/page.ts';
import {
  describeStandingHost,
  renderStandingHost,
  STANDING_HOSTS,
  type StandingHost,
} from '../breaks/standing-hosts.ts';
import {
  DNS_MESSAGE,
  type createDoh,
  type DohAnswer,
  type CheckedQuery,
  checkDohMessage,
  readDohRequest,
  SILENT,
} from '../dns/server/doh.ts';
import type { Log } from '../base/log.ts';
import { MESSAGE_OCTETS_MAX } from '../dns/wire/message-writer.ts';
import { readBody, octetsAnswer, refusal, type OwnPath } from '../proxy/front/own-paths.ts';

/** DNS over HTTPS as a path of the proxy. */
export const dohPath =
  (options: { answer: ReturnType<typeof createDoh>; log: Pick<Log, 'error'> }): OwnPath =>
  ({ method, target, scheme, headers, body }, send) => {
    const fetchSite = headers['sec-fetch-site'];
    const found = readDohRequest({
      method,
      target,
      scheme,
      authority: headers[':authority'] ?? headers.host ?? '',
      contentType: headers['content-type'],
      origin: headers.origin,
      fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
    });
    const fail = (error: unknown): void => {
      options.log.error('A DNS query over HTTPS could not be answered', { error });
      send(refusal(500, 'The DNS query could not be answered.'));
    };
    const reply = (query: CheckedQuery): void => {
      if (query.kind === 'refused') return send(refused(query));
      try {
        const answered = options.answer(query.message);
        if (answered instanceof Promise)
          answered.then((later) => send(later === SILENT ? silent() : answerOf(later))).catch(fail);
        else send(answered === null ? refusal(400, 'This is not a DNS query.') : answerOf(answered));
      } catch (error) {
        fail(error);
      }
    };
    if (found.kind === 'body') readBody(body, MESSAGE_OCTETS_MAX, (message) => reply(checkDohMessage(message)));
    else reply(found);
  };

const answerOf = ({ message, maxAgeSeconds }: DohAnswer) =>
  octetsAnswer(200, DNS_MESSAGE, message, ['Cache-Control', `max-age=${maxAgeSeconds}`]);

const silent = () => refusal(504, 'The DNS query was not answered in time.');

const refused = ({ status, reason }: CheckedQuery & { kind: 'refused' }) =>
  refusal(status, reason, status === 405 ? ['Allow', 'GET, POST'] : []);

/** The responses of the hostnames that are always broken, by hostname. Nothing is read before the first request. */
export function openStandingHosts(resourcesDir: string): ReadonlyMap<string, OwnPath> {
  let template: PageTemplate | null = null;
  const answerOf =
    (host: StandingHost): OwnPath =>
    ({ method, headers }, answer) => {
      if (method !== 'GET' && method !== 'HEAD') return answer(refusal(405, 'Use GET.', ['Allow', 'GET, HEAD']));
      if (headers.accept?.includes('text/html') !== true) {
        const text = Buffer.from(describeStandingHost(host));
        return answer(octetsAnswer(200, 'text/plain; charset=utf-8', text, UNCACHED));
      }
      template ??= loadPageTemplate(join(resourcesDir, 'pages'));
      const page = Buffer.from(template.render(renderStandingHost(host)));
      const policy = ['Content-Security-Policy', template.contentSecurityPolicy, ...UNCACHED];
      answer(octetsAnswer(200, 'text/html; charset=utf-8', page, policy));
    };
  return new Map([...STANDING_HOSTS].map(([hostname, host]) => [hostname, answerOf(host)]));
}

const UNCACHED = ['Cache-Control', 'no-store'];
