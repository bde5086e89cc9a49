import { join } from 'node:path';
import { loadPageTemplate, type PageTemplate } from '../base/http/page.ts';
import {
  describeStandingHost,
  renderStandingHost,
  STANDING_HOSTS,
  type StandingHost,
} from '../breaks/standing-hosts.ts';
import { octetsAnswer, type OwnPath, refusal } from '../proxy/own-paths.ts';

/** The hostnames that are always broken: what they answer, by hostname. Nothing is read before the first request. */
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
