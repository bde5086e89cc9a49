import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** A program and its first arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** What is examined. */
export interface Subject {
  /** Opens the window. */
  app: Command;
  /** The command `vivarium`. */
  cli: Command;
  /** The start of its page's address. */
  pageOrigin: string;
}

const ROOT = join(import.meta.dirname, '..', '..');

export const USAGE = `npm run smoke: tries the desktop app on this machine, and prints a report to paste into an issue

  npm run smoke                              the installed app
  npm run smoke -- --checkout                the app of this clone, in Electron
  npm run smoke -- --app CMD --cli CMD       another one, such as an AppImage; words are separated by spaces

It uses its own data folder and free ports, changes no setting, and leaves nothing behind.

Exit codes
  0  all checks are ok
  1  a check failed
  2  there is no such app, or usage error
`;

/** The page of the real app; the stand-in for Electron serves it elsewhere. */
const PAGE_ORIGIN = 'app://vivarium';

/** Where installers put the app, and the command line. */
function findInstalled(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Pick<Subject, 'app' | 'cli'> {
  const contents = '/Applications/Vivarium.app/Contents';
  const onWindows = join(env['LOCALAPPDATA'] ?? '', 'Programs', 'Vivarium');
  switch (platform) {
    case 'darwin':
      return { app: [join(contents, 'MacOS', 'Vivarium')], cli: [join(contents, 'Resources', 'bin', 'vivarium')] };
    case 'win32':
      return { app: [join(onWindows, 'Vivarium.exe')], cli: [join(onWindows, 'resources', 'bin', 'vivarium.cmd')] };
    default:
      return { app: ['/opt/Vivarium/vivarium-desktop'], cli: ['/usr/bin/vivarium'] };
  }
}

/** The launcher's own JavaScript, which has no types because it runs in any Node. */
const { findElectron, electronEnvironment } = (await import(
  new URL('../../main/cli/launch/desktop-start.mjs', import.meta.url).href
)) as {
  findElectron: (root: string) => string | null;
  electronEnvironment: (env: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
};

/** The environment of the app, which may be an Electron of its own. */
export const environment = (): NodeJS.ProcessEnv => electronEnvironment(process.env);

/** The clone in Electron, with a command line as `resources/bin/vivarium` starts it. */
function findCheckout(): Pick<Subject, 'app' | 'cli'> {
  const electron = findElectron(ROOT);
  if (electron === null) throw new Error('Electron’s runtime is not here; npx install-electron fetches it.');
  if (!existsSync(join(ROOT, 'out', 'main', 'desktop.js'))) throw new Error('Nothing is built; run npm run build.');
  const windowless = process.platform === 'linux' ? ['--ozone-platform=headless', '--disable-gpu', '--no-sandbox'] : [];
  return { app: [electron, ROOT], cli: [electron, ...windowless, '--log-level=3', ROOT, '--command-line', '--'] };
}

/** A path may contain spaces. */
function readCommand(text: string): Command {
  const [program = '', ...args] = existsSync(text) ? [text] : text.split(' ');
  return [program, ...args];
}

/**
 * What `args` name for examination; null: print the usage. @throws Error that tells what is wrong with them, or missing
 */
export function readSubject(args: readonly string[]): Subject | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h' },
      checkout: { type: 'boolean' },
      app: { type: 'string' },
      cli: { type: 'string' },
      'page-origin': { type: 'string' },
    },
  });
  if (values.help === true) return null;
  const found = values.checkout === true ? findCheckout() : findInstalled(process.platform, process.env);
  const app = values.app === undefined ? found.app : readCommand(values.app);
  const cli = values.cli === undefined ? found.cli : readCommand(values.cli);
  for (const [program] of [app, cli]) {
    if (!existsSync(program)) throw new Error(`There is no ${program}; npm run smoke -- --help has other ways.`);
  }
  return { app, cli, pageOrigin: values['page-origin'] ?? PAGE_ORIGIN };
}
