import { BREAK_ZONE } from '../base/config.ts';
import { escapeHtml, type Page } from '../base/http/answer.ts';
import type { BreakClient, BreakEntry } from '../contract/breaks.ts';
import { TLS_ENTRIES } from './catalogue/tls.ts';

/** A hostname that always has one TLS fault. */
export interface StandingHost {
  hostname: string;
  entry: BreakEntry;
}

const hostnameOf = ({ id }: BreakEntry): string => `${id.slice('tls.'.length)}.${BREAK_ZONE}`;

/** One host for each entry of the family `tls`, by hostname. */
export const STANDING_HOSTS: ReadonlyMap<string, StandingHost> = new Map(
  TLS_ENTRIES.map((entry) => [hostnameOf(entry), { hostname: hostnameOf(entry), entry }]),
);

/** The clients in the tables of TLS symptoms, in column order. */
export const TLS_CLIENTS: readonly (readonly [client: BreakClient, name: string])[] = [
  ['curl', 'curl'],
  ['node', 'Node'],
  ['python', 'Python'],
  ['go', 'Go'],
  ['java', 'Java'],
  ['chromium', 'Chromium'],
  ['firefox', 'Firefox'],
];

const howTo = (entry: BreakEntry): string => `vivarium break ${entry.id} HOSTNAME`;

/** The plain-text response of such a hostname to a client that completes the handshake. */
export function describeStandingHost({ entry }: StandingHost): string {
  const said = TLS_CLIENTS.map(([client, name]) => `${name}: ${entry.symptoms[client] ?? 'not tested'}`);
  return `${[`${entry.title} (${entry.id}).`, entry.cause, entry.remedy].join(' ')}
${said.join('\n')}
At a hostname of your own: ${howTo(entry)}
`;
}

/** The same response as HTML. */
export function renderStandingHost({ hostname, entry }: StandingHost): Page {
  const rows = TLS_CLIENTS.map(
    ([client, name]) => `<li>${name}: <code>${escapeHtml(entry.symptoms[client] ?? 'not tested')}</code></li>`,
  );
  return {
    title: entry.title,
    corner: entry.id,
    heading: entry.title,
    message: entry.cause,
    content: `
<p>${escapeHtml(entry.remedy)}</p>
<h2>What clients say</h2>
<ul>
${rows.join('\n')}
</ul>
<h2>At a hostname of your own</h2>
<p><code>${escapeHtml(howTo(entry))}</code></p>
<p>This page is at <code>${escapeHtml(hostname)}</code> over HTTP too, whatever happens to HTTPS.</p>`,
  };
}
