import { CATALOGUE } from '../../main/breaks/catalogue/index.ts';
import {
  BREAK_CLIENTS,
  BREAK_FAMILIES,
  type BreakClient,
  type BreakEntry,
  type BreakFamily,
} from '../../main/contract/breaks.ts';
import { CLIENT_VERSIONS } from './break-clients.ts';

const TITLES: Record<BreakFamily, string> = {
  dns: 'Names and DNS',
  connection: 'Connections',
  tls: 'TLS and certificates',
  http: 'HTTP',
  api: 'Meaning of the API',
  domain: 'Custom domains',
  ca: 'The certificate authority',
  machine: 'This machine',
};

const NAMES: Record<BreakClient, string> = {
  curl: 'curl',
  dig: 'dig',
  node: 'Node',
  python: 'Python',
  go: 'Go',
  java: 'Java',
  chromium: 'Chromium',
  firefox: 'Firefox',
};

const cellOf = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A code span, also of a text with backticks (CommonMark §6.1). */
const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

function rowOf(entry: BreakEntry, clients: readonly BreakClient[]): string {
  const symptoms = clients.map((client) => {
    const symptom = entry.symptoms[client];
    return symptom === undefined ? '–' : cellOf(code(symptom));
  });
  const title = entry.impossible === undefined ? entry.title : `${entry.title}. Not here: ${entry.impossible}`;
  const only = entry.http === undefined ? '' : `. ${entry.http} only`;
  return `| ${code(entry.id)} | ${cellOf(title + only)} | ${symptoms.join(' | ')} |`;
}

function sectionOf(family: BreakFamily): string {
  const entries = CATALOGUE.filter((entry) => entry.family === family);
  if (entries.length === 0) return '';
  const clients = BREAK_CLIENTS.filter((client) => entries.some(({ symptoms }) => symptoms[client] !== undefined));
  const head = ['Entry', 'What goes wrong', ...clients.map((client) => NAMES[client])];
  return `## ${TITLES[family]}

| ${head.join(' | ')} |
|${'---|'.repeat(head.length)}
${entries.map((entry) => rowOf(entry, clients)).join('\n')}
`;
}

/** `docs/what-clients-say.md`: the symptoms of the catalogue, which tests compare with what clients say. */
export function makeBreakTable(): string {
  const versions = Object.values(CLIENT_VERSIONS).map(({ says }) =>
    says.replace('go version go', 'Go ').replace(/\.$/, ''),
  );
  return `# What clients say when something is broken

Each entry of the catalogue of breaks, with what clients say when it strikes. Tests provoke the entries in these clients, and compare; this page is
written by \`npm run reference\`.

A number is the status that the client reports, with what it sees besides. – is a client that the entry does not concern, or that can't tell: Python's
urllib speaks HTTP/1.1 only, and clients that send one request at a time never meet \`http.one-stream\`. The words of connections, HTTP and the API are
those of ${versions.map((version) => version.replace(/^v/, 'Node ')).join(', ')}.

${BREAK_FAMILIES.map(sectionOf)
  .filter((section) => section !== '')
  .join('\n')}`;
}
