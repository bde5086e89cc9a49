import { readPackage } from '../words/default-project.ts';

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
function wordsOf(script: string): string[] {
  return /[&|;<>()$`"'\\]/.test(script) ? [] : script.trim().split(/\s+/);
}

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
