import { posixWord } from '../base/text/shell.ts';
import { printable } from '../base/text/terminal.ts';

/** The content of the console's banner: addresses, the demo key, and requests that work when pasted. */
export interface Welcome {
  version: string;
  dataDir: string;
  controlUrl: string;
  /** Signs a browser in once; null where the output is stored, as in a container. */
  signInLink: string | null;
  caFile: string;
  ports: { http: number; https: number; dns: number };
  /** The page for other devices, while they are served. */
  devicesUrl: string | undefined;
  /** The project for the sample requests. */
  project: {
    id: string;
    name: string;
    plan: string;
    perMinute: number;
    perDay: number;
    baseUrl: string;
    secureBaseUrl: string;
  } | null;
  /** The project's API key, while it is readable. */
  secret: string | null;
  projectCount: number;
  /** Custom domains of all projects, and how many of them are served over HTTPS. */
  domains: { attached: number; secure: number };
  warnings: readonly string[];
  /** How to stop Vivarium: a key combination with a full stop, or a command to paste. */
  stop: string;
  /** Turns one of Vivarium's commands (`vivarium domain list`) into a pasteable one. */
  ownCommand: (command: string) => string;
}

type Paint = (text: string) => string;

interface Palette {
  strong: Paint;
  quiet: Paint;
  moss: Paint;
  amber: Paint;
}

const PLAIN: Palette = { strong: (text) => text, quiet: (text) => text, moss: (text) => text, amber: (text) => text };

const sgr =
  (code: string): Paint =>
  (text) =>
    `\u001b[${code}m${text}\u001b[0m`;

const COLOURED: Palette = { strong: sgr('1'), quiet: sgr('2'), moss: sgr('32'), amber: sgr('33') };

/** Prints a line break after the body, so that the prompt starts on a new line. */
const CURL = String.raw`curl -w '\n'`;

/** The lines to print. Uses only the terminal's sixteen colours, to follow its theme. */
export function formatWelcome(welcome: Welcome, colour: boolean): string {
  const paint = colour ? COLOURED : PLAIN;
  const row = (label: string, value: string) => `  ${paint.quiet(label.padEnd(12))}${value}`;
  const lines = [
    '',
    `  ${paint.moss(paint.strong('Vivarium'))} ${paint.quiet(welcome.version)}`,
    '',
    row('Interface', paint.strong(welcome.signInLink ?? welcome.controlUrl)),
    ...(welcome.signInLink === null
      ? [row('Sign in', `with the link that ${welcome.ownCommand('vivarium open')} prints`)]
      : []),
    row(
      'Listening',
      `HTTP ${welcome.ports.http}, HTTPS ${welcome.ports.https}, DNS ${welcome.ports.dns}, ${where(welcome)}`,
    ),
    ...(welcome.devicesUrl === undefined ? [] : [row('Devices', paint.strong(welcome.devicesUrl))]),
    row('Data folder', welcome.dataDir),
    row('Root', welcome.caFile),
    '',
    ...projectLines(welcome, paint, row),
    ...welcome.warnings.map((warning) => `  ${paint.amber('!')} ${warning}`),
    ...(welcome.warnings.length > 0 ? [''] : []),
    `  ${paint.quiet(`Stop with ${welcome.stop}`)}`,
    '',
  ];
  return lines.join('\n');
}

function projectLines(welcome: Welcome, paint: Palette, row: (label: string, value: string) => string): string[] {
  const { project, secret } = welcome;
  if (project === null) {
    return [
      row(
        'Projects',
        welcome.projectCount === 0 ? 'none yet; create one with' : `${welcome.projectCount}; list them with`,
      ),
      `  ${' '.repeat(12)}${welcome.ownCommand(`vivarium project ${welcome.projectCount === 0 ? 'create "My project"' : 'list'}`)}`,
      '',
    ];
  }
  const header = `-H ${secret === null ? '"Authorization: Bearer $VIVARIUM_KEY"' : posixWord(`Authorization: Bearer ${secret}`)}`;
  const requests = [
    `${CURL} ${header} ${posixWord(`${project.baseUrl}/pets?limit=3`)}`,
    `${CURL} ${header} --cacert ${posixWord(welcome.caFile)} ${posixWord(`${project.secureBaseUrl}/pets?limit=3`)}`,
    `${CURL} ${header} -H 'Content-Type: application/json' -d '{"name": "Rex", "categoryId": 1}' ${posixWord(`${project.baseUrl}/pets`)}`,
  ];
  return [
    row(
      'Project',
      `${paint.strong(printable(project.name))}, plan ${project.plan}: ${project.perMinute} requests a minute, ${project.perDay} a day`,
    ),
    row('Addresses', project.baseUrl),
    row('', project.secureBaseUrl),
    ...domainLines(welcome, row),
    row(
      'API key',
      secret ??
        `shown only when it is created; create another with  ${welcome.ownCommand(`vivarium key create --project-id ${project.id} --name Mine`)}`,
    ),
    '',
    `  ${paint.quiet('Try it:')}`,
    '',
    ...requests.map((line) => `  ${paint.moss(line)}`),
    '',
  ];
}

function domainLines({ domains, ownCommand }: Welcome, row: (label: string, value: string) => string): string[] {
  const { attached, secure } = domains;
  if (attached === 0) return [];
  return [
    row(
      'Domains',
      `${attached} attached, ${secure} served over HTTPS; see them with  ${ownCommand('vivarium domain list')}`,
    ),
  ];
}

function where({ signInLink, devicesUrl }: Welcome): string {
  if (signInLink === null) return 'on every address';
  return devicesUrl === undefined ? 'on this machine only' : 'on this machine and for other devices';
}
