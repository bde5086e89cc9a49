import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { codeOf } from '../../base/error-code.ts';
import { describePortHolder, type Listener } from '../../base/system/port-holder.ts';
import { conflict } from '../../contract/errors.ts';
import { readPackage } from '../words/default-project.ts';

/** How long a server may take to answer before the port is ignored. */
const ANSWER_MS_MAX = 2_000;

/** What is known about the port to serve. */
export interface PortHints {
  /** The port that the command got in `PORT`. */
  given: number;
  /** The served port, which is kept while the command listens on it. */
  current: number | null;
}

/** The listener to serve: the current one, the requested one, the only one, or the only one that speaks HTTP. */
export async function choosePort(
  listeners: readonly Listener[],
  { given, current }: PortHints,
  speaks: (listener: Listener) => Promise<string | null> = schemeOf,
): Promise<readonly Listener[]> {
  const certain = listeners.find(({ port }) => port === current) ?? listeners.find(({ port }) => port === given);
  if (certain !== undefined) return [certain];
  if (listeners.length < 2) return listeners;
  const schemes = await Promise.all(listeners.map(speaks));
  const speaking = listeners.filter((_listener, index) => schemes[index] !== null);
  return speaking.length === 0 ? listeners : speaking;
}

/** The scheme of a server; null if it neither answers over HTTP in time nor accepts TLS. */
export async function schemeOf({ host, port }: Pick<Listener, 'host' | 'port'>): Promise<'http' | 'https' | null> {
  const answer = await askOverHttp(`http://${host}:${port}/`);
  if (answer !== 'refused') return answer === 'answered' ? 'http' : null;
  return (await acceptsTls(host.replace(/[[\]]/g, ''), port)) ? 'https' : null;
}

function askOverHttp(url: string): Promise<'answered' | 'silent' | 'refused'> {
  return new Promise((resolve) => {
    const asking = request(url, { method: 'HEAD', agent: false, timeout: ANSWER_MS_MAX }, (answer) => {
      answer.resume();
      resolve('answered');
    });
    // Not aborted: a dev server may be compiling for this first request, and some report an abort as their error.
    asking.on('timeout', () => resolve('silent'));
    asking.on('socket', (socket) => socket.unref());
    asking.on('error', () => resolve('refused'));
    asking.end();
  });
}

/** Development servers have self-signed certificates. */
const acceptsTls = (host: string, port: number): Promise<boolean> =>
  opens(connectTls({ host, port, rejectUnauthorized: false, timeout: ANSWER_MS_MAX }), 'secureConnect');

/** The requested port, once any program listens there: Docker's proxy, for example, listens for a command. */
export async function openAt(port: number): Promise<readonly Listener[]> {
  const isOpen = await opens(connect({ host: 'localhost', port, timeout: ANSWER_MS_MAX }), 'connect');
  return isOpen ? [{ port, host: 'localhost', pid: 0 }] : [];
}

function opens(socket: Socket, event: 'connect' | 'secureConnect'): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isOpen: boolean) => {
      resolve(isOpen);
      socket.destroy();
    };
    socket.once(event, () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

export async function freePort(): Promise<number> {
  const server = await listenOn(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** @throws VivariumError that names the program that has the port. */
export async function checkFree(port: number): Promise<void> {
  try {
    const server = await listenOn(port);
    server.close();
    await once(server, 'close');
  } catch (cause) {
    const code = codeOf(cause);
    const why =
      code === 'EADDRINUSE' ? `is taken${describePortHolder(port, 'tcp')}` : `cannot be used (${code ?? 'unknown'})`;
    throw conflict(
      `Port ${port}, which the command is to open, ${why}. Stop it there, or choose another port with --port.`,
      { cause },
    );
  }
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port);
  await once(server, 'listening');
  return server;
}

/** A command that neither reads `PORT` nor switches to a free port. */
interface FixedPort {
  /** Its first words. */
  words: readonly string[];
  /** The words before the port; none if the port is an argument. */
  flag?: string;
}

/** Two of these would use the same port in different projects; all others are watched for the port that they open. */
const FIXED_PORTS: readonly FixedPort[] = [
  { words: ['ng', 'serve'], flag: '--port' },
  { words: ['ng', 's'], flag: '--port' },
  { words: ['ng', 'dev'], flag: '--port' },
  { words: ['expo', 'start'], flag: '--port' },
  { words: ['react-native', 'start'], flag: '--port' },
  { words: ['flask', 'run'], flag: '--port' },
  { words: ['python', '-m', 'flask', 'run'], flag: '--port' },
  { words: ['uvicorn'], flag: '--port' },
  { words: ['jekyll', 'serve'], flag: '--port' },
  { words: ['python', 'manage.py', 'runserver'] },
  { words: ['manage.py', 'runserver'] },
  { words: ['python', '-m', 'http.server'] },
];

/** Words before a program that only run it. */
const RUNNERS: readonly (readonly string[])[] = [
  ['npx'],
  ['bunx'],
  ['pnpx'],
  ['pnpm', 'exec'],
  ['pnpm', 'dlx'],
  ['yarn', 'exec'],
  ['yarn', 'dlx'],
  ['npm', 'exec', '--'],
  ['uv', 'run'],
  ['poetry', 'run'],
];

const PACKAGE_MANAGERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun']);

/** Adds the flags that a command needs for `port`, also if it is a script of the folder's package. */
export async function withPortFlags(command: readonly string[], port: number, folder: string): Promise<string[]> {
  const script = scriptOf(command);
  if (script === null) return [...command, ...flagsFor(command, port)];
  const text = ((await readPackage(folder))?.scripts as Record<string, unknown> | undefined)?.[script];
  const flags = typeof text === 'string' ? flagsFor(wordsOf(text), port) : [];
  // Without the dashes, npm consumes the options.
  const isApart = command[0] !== 'npm' || command.includes('--') || flags.length === 0;
  return [...command, ...(isApart ? [] : ['--']), ...flags];
}

/** The package script that a command runs: `dev` of `npm run dev` or `pnpm dev`; null for other commands. */
function scriptOf([program = '', ...words]: readonly string[]): string | null {
  if (!PACKAGE_MANAGERS.has(program)) return null;
  const plain = words.filter((word) => !word.startsWith('-'));
  if (plain[0] === 'run' || plain[0] === 'run-script') return plain[1] ?? null;
  if (program === 'npm') return plain[0] === 'start' ? 'start' : null;
  return plain[0] === 'exec' || plain[0] === 'dlx' ? null : (plain[0] ?? null);
}

/** The words of a script; none if it needs more of a shell than splitting. */
const wordsOf = (script: string): string[] => (/[&|;<>()$`"'\\]/.test(script) ? [] : script.trim().split(/\s+/));

/** The flags for `port`; none if the command already has a port, or needs no flags. */
export function flagsFor(command: readonly string[], port: number): string[] {
  const runner = RUNNERS.find((words) => words.every((word, index) => command[index] === word));
  const [program = '', ...rest] = command.slice(runner?.length ?? 0);
  const name = (program.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:exe|cmd)$/, '').replace(/^python[\d.]+$/, 'python');
  const own = [name, ...rest];
  const found = FIXED_PORTS.find(({ words }) => words.every((word, index) => own[index] === word));
  if (found === undefined) return [];
  const given = own.slice(found.words.length);
  if (found.flag === undefined) return given.some((word) => !word.startsWith('-')) ? [] : [String(port)];
  return given.some((word) => /^(?:--port\b|-p)/.test(word)) ? [] : [found.flag, String(port)];
}
