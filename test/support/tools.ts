import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findChromium, isExecutable } from './chromium.ts';

/** A program that tests use as a real client or peer, and its Debian package. */
interface Tool {
  name: string;
  debianPackage: string;
  isThere: () => boolean;
  /** Tests run without it, but slower or fewer. */
  isOptional?: true;
  /** Only tests of the project `clients` use it. */
  isClient?: true;
}

const onPath = (name: string, debianPackage: string): Tool => ({
  name,
  debianPackage,
  isThere: () => findTool(name) !== null,
});

const TOOLS: readonly Tool[] = [
  onPath('curl', 'curl'),
  onPath('openssl', 'openssl'),
  onPath('dig', 'dnsutils'),
  onPath('delv', 'bind9-dnsutils'),
  onPath('kdig', 'knot-dnsutils'),
  onPath('certutil', 'libnss3-tools'),
  onPath('tstclnt', 'libnss3-tools'),
  onPath('script', 'bsdutils'),
  onPath('bash', 'bash'),
  onPath('dash', 'dash'),
  onPath('zsh', 'zsh'),
  onPath('fish', 'fish'),
  { ...onPath('makensis', 'nsis'), isClient: true },
  { name: 'chromium', debianPackage: 'chromium', isThere: hasChromium },
  // Half of Chromium's work for the same page; without it, Chromium is used.
  { ...onPath('chromium-headless-shell', 'chromium-headless-shell'), isOptional: true },
  // Debian's name; the tests that need it are skipped without it.
  { ...onPath('firefox-esr', 'firefox-esr'), isOptional: true, isClient: true },
  { ...onPath('ip', 'iproute2'), isOptional: true },
  {
    name: 'grpcio',
    debianPackage: 'python3-grpcio',
    isThere: () => findGrpcio() !== null,
    isOptional: true,
    isClient: true,
  },
  // Programs that Vivarium starts.
  ...['php-cli', 'php-curl', 'ruby', 'python3-requests', 'python3-httpx', 'python3-pytest'].map((name): Tool => ({
    name,
    debianPackage: name,
    isThere: () => existsSync(`/var/lib/dpkg/info/${name}.list`),
    isOptional: true,
    isClient: true,
  })),
  { ...onPath('go', 'golang-go'), isOptional: true, isClient: true },
  ...['certbot', 'lego', 'dehydrated', 'uacme', 'caddy'].map((name): Tool => ({
    ...onPath(name, name),
    isOptional: true,
    isClient: true,
  })),
];

const VERCEL_VERSION = '58.10.0';
const VERCEL_FOLDER = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', `vercel-${VERCEL_VERSION}`);

/** Vercel’s own command, which is optional: with its 250 MB it is no development dependency. */
export const VERCEL_COMMAND = {
  name: `vercel ${VERCEL_VERSION}`,
  program: join(VERCEL_FOLDER, 'node_modules', 'vercel', 'dist', 'vc.js'),
};

export function installVercelCommand(): void {
  if (existsSync(VERCEL_COMMAND.program)) return;
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save', '--prefix', VERCEL_FOLDER];
  run(['npm', 'install', ...options, `vercel@${VERCEL_VERSION}`]);
}

/** The program's path, or null if it is not installed. */
export function findTool(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
    if (isExecutable(path)) return path;
  }
  return null;
}

/** Debian's gRPC for its own Python, or null. */
export function findGrpcio(): string | null {
  const path = '/usr/lib/python3/dist-packages/grpc';
  return existsSync(path) ? path : null;
}

function hasChromium(): boolean {
  try {
    return findChromium() !== '';
  } catch {
    return false;
  }
}

/** Whether a program is installed, and runs with these arguments. */
export const hasProgram = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** The program's path. @throws Error that tells how to install it. */
export function requireTool(name: string): string {
  const path = findTool(name);
  if (path !== null) return path;
  const tool = TOOLS.find((candidate) => candidate.name === name);
  throw new Error(`This test needs ${name}; on Debian: apt-get install ${tool?.debianPackage ?? name}.`);
}

/** Installs missing programs if that needs no password, those of `clients` too if asked; reports what is still missing. */
export function installTools({ clients }: { clients: boolean }): string[] {
  const wanted = TOOLS.filter(({ isClient }) => clients || isClient !== true);
  const missing = () => wanted.filter((tool) => !tool.isThere());
  const packages = missing();
  if (packages.length > 0 && process.platform === 'linux' && existsSync('/usr/bin/apt-get')) {
    process.stderr.write(
      `Installing what the tests need: ${packages.map(({ debianPackage }) => debianPackage).join(', ')}…\n`,
    );
    apt('update', '-qq');
    if (!aptInstall(packages)) {
      // apt installs nothing if one package is unknown, and not every distribution has the optional ones.
      const needed = packages.filter(({ isOptional }) => isOptional !== true);
      const optional = packages.filter(({ isOptional }) => isOptional === true).map((tool) => [tool]);
      for (const group of [needed, ...optional]) if (group.length > 0) aptInstall(group);
    }
  }
  return missing()
    .filter(({ isOptional }) => isOptional !== true)
    .map(({ name, debianPackage }) => `${name} (Debian: ${debianPackage})`);
}

/** Whether apt installed them all. */
const aptInstall = (tools: readonly Tool[]): boolean =>
  apt('install', '-y', '-qq', '--no-install-recommends', ...tools.map(({ debianPackage }) => debianPackage));

function apt(...words: readonly string[]): boolean {
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  return run([...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...words]);
}

function run([command = '', ...args]: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
