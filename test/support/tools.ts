import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that tests use as the real client or peer it is, and the Debian package that has it. */
interface Tool {
  name: string;
  /** File names under which it is found on PATH, or absolute paths. */
  candidates: readonly string[];
  debianPackage: string;
}

export const TOOLS: readonly Tool[] = [
  { name: 'curl', candidates: ['curl'], debianPackage: 'curl' },
  { name: 'openssl', candidates: ['openssl'], debianPackage: 'openssl' },
  { name: 'dig', candidates: ['dig'], debianPackage: 'dnsutils' },
  { name: 'kdig', candidates: ['kdig'], debianPackage: 'knot-dnsutils' },
  { name: 'certutil', candidates: ['certutil'], debianPackage: 'libnss3-tools' },
  {
    name: 'chromium',
    candidates: [
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    ],
    debianPackage: 'chromium',
  },
];

/** The program's path, or null when the machine does not have it. */
export function findTool(name: string): string | null {
  const tool = TOOLS.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`The tests know no tool "${name}"; add it to test/support/tools.ts.`);
  for (const candidate of tool.candidates) {
    if (candidate.includes('/') || candidate.includes('\\')) {
      if (existsSync(candidate)) return candidate;
      continue;
    }
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, process.platform === 'win32' ? `${candidate}.exe` : candidate);
      if (isExecutable(path)) return path;
    }
  }
  return null;
}

/** The program's path. @throws Error that says how to get it. */
export function requireTool(name: string): string {
  const path = findTool(name);
  if (path !== null) return path;
  const tool = TOOLS.find((candidate) => candidate.name === name);
  throw new Error(`This test needs ${name}; on Debian: apt-get install ${tool?.debianPackage ?? name}.`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Installs what is missing where that needs nobody's password; says what is still missing. */
export function installTools(): string[] {
  const missing = () => TOOLS.filter((tool) => findTool(tool.name) === null);
  const packages = missing().map((tool) => tool.debianPackage);
  if (packages.length > 0 && process.platform === 'linux' && existsSync('/usr/bin/apt-get')) {
    const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
    process.stderr.write(`Installing what the tests need: ${packages.join(', ')}…\n`);
    run([...prefix, 'apt-get', 'update', '-qq']);
    run([
      ...prefix,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      ...packages,
    ]);
  }
  return missing().map((tool) => `${tool.name} (Debian: ${tool.debianPackage})`);
}

function run([command = '', ...args]: readonly string[]): void {
  spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
