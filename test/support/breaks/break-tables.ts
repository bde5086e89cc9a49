import { CATALOGUE } from '../../../main/breaks/catalogue/index.ts';
import { TLS_CLIENTS } from '../../../main/breaks/standing-hosts.ts';
import { FAMILY_TITLES } from '../../../main/contract/break-words.ts';
import { BREAK_CLIENTS, BREAK_FAMILIES } from '../../../main/contract/breaks.ts';
import type { BreakClient, BreakEntry, BreakFamily } from '../../../main/contract/breaks.ts';
import { CLIENT_VERSIONS } from './break-clients.ts';

const FAMILIES = { ...FAMILY_TITLES, http: 'HTTP', domain: 'Custom domains', ca: 'The certificate authority' };

/** Those that are not called by their id. */
const CLIENTS: ReadonlyMap<BreakClient, string> = new Map([...TLS_CLIENTS, ['doctor', '`vivarium doctor`']]);

const versions = Object.values(CLIENT_VERSIONS).map(({ says }) =>
  says.replace('go version go', 'Go ').replace(/^v/, 'Node ').replace(/\.$/, ''),
);

/** The families whose symptoms `test/integration/engine/breaks/break-symptoms.test.ts` records. */
const STATUSES = `The messages are those of ${versions.join(', ')}. A number is the status that the client reports, with its other observations. Clients that
send one request at a time, or speak HTTP/1.1 only, such as Python’s urllib, never meet some of them. Browsers and Java were tested with names and TLS, where each has its own rules, but not
here: a page’s script learns only that a request failed, and no entry affects a client’s own rules.`;

/** How the symptoms of a family were recorded, where that needs an explanation. */
const NOTES: Partial<Record<BreakFamily, string>> = {
  dns: `\`HOST\` is the hostname. dig shows TTLs, and asks for type A unless it says otherwise; kdig gets the same status. Node’s \`resolve4\` is c-ares; its
\`lookup\`, Python and Java ask the system’s resolver (\`getaddrinfo\`); Go and Chromium query by themselves. The tests set time-outs of 3 s; by default, most clients give up
after 5 to 20 s.`,
  domain: `\`HOST\` is the hostname, \`ZONE\` its zone; dig asks for type A of \`HOST\` unless it says otherwise. Other clients report the same answer as
under [Names and DNS](#names-and-dns). The code in the second column is the result of the verification.`,
  ca: `The messages are those of Debian 12’s certbot 2.1.0, lego 4.9.1 and dehydrated 0.7.0, shortened to the type of the problem where there is one; certbot 2.1.0 hides some
behind its own error. These versions support neither ARI nor profiles, and obtain what they are asked for. uacme reads only the machine’s trust store, and was not tested;
clients of the API are not affected. The ACME server’s answers name the break in the member \`brokenOnPurpose\`.`,
  machine: `“…” marks text that differs between machines. Clients notice only breaks of Vivarium itself; the doctor finds the others.`,
  connection: STATUSES,
  http: STATUSES,
  api: STATUSES,
};

/** `docs/reference/break-it-clients.md`: what each entry of the catalogue does, what clients report, and the remedy. */
export function makeBreakTables(): string {
  const families = BREAK_FAMILIES.filter((family) => family !== 'tls').flatMap((family) => {
    const entries = CATALOGUE.filter((entry) => entry.family === family);
    return entries.length === 0 ? [] : [sectionOf(family, entries)];
  });
  return `# What clients say of each break

What goes wrong with each entry of the catalogue, what clients say about it, and the remedy. [\`vivarium break ENTRY\`](commands.md#break-entry) starts it.
These tables are generated from the catalogue, and tests compare the catalogue with real clients on Linux. A client with "–" is not affected, or was not tested.
[Broken TLS](broken-tls.md) has the entries for TLS and certificates.

${families.join('\n')}`;
}

function sectionOf(family: BreakFamily, entries: readonly BreakEntry[]): string {
  const clients = BREAK_CLIENTS.filter((client) => entries.some(({ symptoms }) => symptoms[client] !== undefined));
  const note = NOTES[family];
  const told = entries.map(({ id, title, cause, remedy, http }) => [
    `\`${id}\``,
    `**${title}.** ${cause}${http === undefined ? '' : ` ${http} only.`}`,
    remedy,
  ]);
  const seen = entries.map(({ id, symptoms, impossible }) =>
    impossible === undefined
      ? [`\`${id}\``, ...clients.map((client) => codeOf(symptoms[client]))]
      : [`\`${id}\``, `Not possible here: ${impossible.replace(/\.?$/, '.')}`, ...clients.slice(1).map(() => '–')],
  );
  const parts = [
    `## ${FAMILIES[family]}`,
    ...(note === undefined ? [] : [note]),
    tableOf(['Entry', 'What goes wrong', 'Remedy'], told),
    ...(clients.length === 0
      ? []
      : [tableOf(['Entry', ...clients.map((client) => CLIENTS.get(client) ?? client)], seen)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A code span, even for a text with backticks (CommonMark §6.1). */
function codeOf(text: string | undefined): string {
  if (text === undefined) return '–';
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
