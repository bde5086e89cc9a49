import { posix, win32 } from 'node:path';
import type { BrowserKind } from '../contract/reach.ts';

/** A browser that accepts the options of Chromium, or those of Firefox. */
export interface Browser {
  name: string;
  program: string;
  /** For a snap, the folder for its profile: a snap sees only its own folders and ignores another home folder. */
  confinedTo: string | null;
}

export interface BrowserSearch {
  platform: NodeJS.Platform;
  environment: Readonly<Record<string, string | undefined>>;
  home: string;
  isExecutable: (path: string) => boolean;
}

/** The variable that names the browser to use instead of searching for one. */
export const BROWSER_VARIABLE = 'VIVARIUM_BROWSER';

/** Extra arguments from the user, separated by spaces: `--no-sandbox` in a container. */
const ARGUMENTS_VARIABLE = 'VIVARIUM_BROWSER_ARGUMENTS';

export const extraArguments = (environment: BrowserSearch['environment']): string[] =>
  (environment[ARGUMENTS_VARIABLE] ?? '').split(' ').filter((word) => word !== '');

/** Whose options a browser takes, according to its file name. */
export const kindOf = ({ program }: Browser): BrowserKind =>
  /firefox[^/\\]*$/i.test(program) ? 'firefox' : 'chromium';

/** Command names in the packages of Linux distributions and vendors. */
const COMMANDS: readonly (readonly [name: string, ...commands: string[]])[] = [
  ['Chrome', 'google-chrome-stable', 'google-chrome'],
  ['Chromium', 'chromium', 'chromium-browser'],
  ['Edge', 'microsoft-edge-stable', 'microsoft-edge'],
  ['Brave', 'brave-browser-stable', 'brave-browser', 'brave'],
  ['Firefox', 'firefox', 'firefox-esr'],
];

/** Below /Applications of the system or of a user. The program has the name of its bundle unless another is given. */
const BUNDLES: readonly (readonly [name: string, bundle: string, program?: string])[] = [
  ['Chrome', 'Google Chrome'],
  ['Chromium', 'Chromium'],
  ['Edge', 'Microsoft Edge'],
  ['Brave', 'Brave Browser'],
  ['Firefox', 'Firefox', 'firefox'],
];

/** Below the program folders of the machine or of a user. */
const WINDOWS_PROGRAMS: readonly (readonly [name: string, path: string])[] = [
  ['Chrome', 'Google\\Chrome\\Application\\chrome.exe'],
  ['Chromium', 'Chromium\\Application\\chrome.exe'],
  ['Edge', 'Microsoft\\Edge\\Application\\msedge.exe'],
  ['Brave', 'BraveSoftware\\Brave-Browser\\Application\\brave.exe'],
  ['Firefox', 'Mozilla Firefox\\firefox.exe'],
];

const WINDOWS_FOLDERS = ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'] as const;

/** Possible locations of these browsers, best first. */
export function browserCandidates({ platform, environment, home }: Omit<BrowserSearch, 'isExecutable'>): Browser[] {
  const named = environment[BROWSER_VARIABLE] ?? '';
  if (named !== '') return [{ name: 'The browser', program: named, confinedTo: confinementOf(named, home) }];
  if (platform === 'darwin') {
    const folders = ['/Applications', posix.join(home, 'Applications')];
    return BUNDLES.flatMap(([name, bundle, program = bundle]) =>
      folders.map((folder) => free(name, posix.join(folder, `${bundle}.app`, 'Contents', 'MacOS', program))),
    );
  }
  if (platform === 'win32') {
    const folders = WINDOWS_FOLDERS.flatMap((variable) => environment[variable] ?? []);
    return WINDOWS_PROGRAMS.flatMap(([name, path]) => folders.map((folder) => free(name, win32.join(folder, path))));
  }
  return onPath(environment, home);
}

/** The installed browsers; those that accept another home folder come first. */
export function findBrowsers(search: BrowserSearch): Browser[] {
  return browserCandidates(search)
    .filter(({ program }) => search.isExecutable(program))
    .sort((one, other) => Number(one.confinedTo !== null) - Number(other.confinedTo !== null));
}

const free = (name: string, program: string): Browser => ({ name, program, confinedTo: null });

/** The folders of PATH, without relative ones. */
function onPath(environment: BrowserSearch['environment'], home: string): Browser[] {
  const listed = (environment.PATH ?? '').split(':').filter((folder) => posix.isAbsolute(folder));
  const folders = [...new Set([...listed, '/snap/bin'])];
  return COMMANDS.flatMap(([name, ...commands]) =>
    commands.flatMap((command) =>
      folders.map((folder) => {
        const program = posix.join(folder, command);
        return { name, program, confinedTo: confinementOf(program, home) };
      }),
    ),
  );
}

/** Ubuntu's `chromium-browser` is a script that starts the snap. */
function confinementOf(program: string, home: string): string | null {
  const isSnap = program.startsWith('/snap/') || program.endsWith('/chromium-browser');
  const snap = program.endsWith('/firefox') ? 'firefox' : 'chromium';
  return isSnap ? posix.join(home, 'snap', snap, 'common') : null;
}

const SOUGHT = {
  any: 'Chrome, Chromium, Edge, Brave or Firefox',
  chromium: 'Chrome, Chromium, Edge or Brave',
  firefox: 'Firefox',
};

const INSTALL: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'brew install --cask google-chrome',
  win32: 'winget install Google.Chrome',
  linux: 'sudo apt-get install chromium',
};

/** Why no browser can be opened, and what to do. */
export const explainNoBrowser = (platform: NodeJS.Platform, kind?: BrowserKind): string =>
  `No ${SOUGHT[kind ?? 'any']} was found. Install one (${INSTALL[platform] ?? 'from its maker'}), or name its program in ${BROWSER_VARIABLE}. Other browsers work with the PAC file in their proxy settings.`;

/** Whether windows can be shown. Only Linux lets us detect it; other systems are assumed to have a display. */
export function hasDisplay(platform: NodeJS.Platform, environment: BrowserSearch['environment']): boolean {
  if (platform === 'darwin' || platform === 'win32') return true;
  return (environment.DISPLAY ?? '') !== '' || (environment.WAYLAND_DISPLAY ?? '') !== '';
}

export const NO_DISPLAY =
  'There is no display here (DISPLAY and WAYLAND_DISPLAY are not set). “From one program” has a request to copy.';

/** Unlike Chromium, Firefox has no option that accepts certificates by their keys. */
export const NO_CERTUTIL =
  'Firefox needs NSS’s certutil to trust the root, and it is not installed (Debian: apt-get install libnss3-tools; macOS: brew install nss). Chrome, Chromium, Edge and Brave open without it.';
