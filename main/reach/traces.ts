import { join, posix } from 'node:path';
import { PLATFORM_ZONE } from '../base/config.ts';
import { AUTOSTART_ENTRY } from '../base/system/desktop.ts';
import { posixWord } from '../base/text/shell.ts';
import { pacSetting } from './mapped-hostnames.ts';
import { ENVIRONMENT_VARIABLES, ROOT_VARIABLES } from './snippets.ts';

/** A change that the user may have made on this machine on Vivarium's instructions, and how to undo it. */
export interface Trace {
  title: string;
  /** Commands to paste, or what to edit. */
  undo: string;
  /** Whether the change was found; if not, Vivarium cannot tell whether it was made. */
  found: boolean;
}

export interface TraceFacts {
  platform: NodeJS.Platform;
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The root's file in the data folder. */
  caFile: string;
  /** The text of a file; null if it does not exist or cannot be read. */
  readText(path: string): string | null;
}

/** Files of the home folder that may name the root or set such a variable. */
const USER_FILES = [
  '.curlrc',
  '.npmrc',
  '.gitconfig',
  '.profile',
  '.bashrc',
  '.bash_profile',
  '.zshrc',
  '.zprofile',
  '.config/fish/config.fish',
];
const SYSTEM_FILES = ['/etc/environment', '/etc/firefox/policies/policies.json'];

/**
 * All changes that the instructions for this system can have caused, those found first. A change that cannot be read
 * back is listed as possible. Changes that Vivarium made itself are in the ledger of machine changes.
 */
export function findTraces(facts: TraceFacts): Trace[] {
  const traces = [...pacTraces(facts), ...rootTraces(facts), ...commandTraces(facts), ...loginTraces(facts)];
  return [...traces.filter(({ found }) => found), ...traces.filter(({ found }) => !found)];
}

function pacTraces({ platform }: TraceFacts): Trace[] {
  // The undo command depends on neither ports nor addresses.
  const { title, undo } = pacSetting({ platform, hostname: PLATFORM_ZONE, ports: { http: 80 }, pacUrl: '' });
  return [{ title, undo, found: false }];
}

function rootTraces({ platform, home, environment, caFile, readText }: TraceFacts): Trace[] {
  const unset = (names: readonly string[]): string => {
    if (platform !== 'win32') return `${isFish(environment) ? 'set -e' : 'unset'} ${names.join(' ')}`;
    // Variable names are case-insensitive on Windows.
    const distinct = new Set(names.map((name) => name.toUpperCase()));
    return [...distinct].map((name) => `Remove-Item Env:${name}`).join('\n');
  };
  const set = ROOT_VARIABLES.filter((name) => environment[name] === caFile);
  const files = [...USER_FILES.map((name) => join(home, name)), ...(platform === 'win32' ? [] : SYSTEM_FILES)];
  return [
    ...(set.length === 0
      ? []
      : [{ title: `This shell names the root in ${set.join(', ')}`, undo: unset(set), found: true }]),
    ...files
      .filter((file) => readText(file)?.includes(caFile) === true)
      .map((file) => ({ title: `${file} names the root`, undo: `# Remove ${caFile} from ${file}`, found: true })),
    {
      title: 'Another shell or a program’s settings that contain the variables of the environment snippet',
      undo: unset(ENVIRONMENT_VARIABLES),
      found: false,
    },
    {
      title: 'A browser, a phone or a Java key store into which the root was imported by hand',
      undo: '# Delete "Vivarium root" from its list of authorities',
      found: false,
    },
  ];
}

/** Where `vivarium completion --help` tells users to put its line, or its file for fish. */
const COMPLETED_FILES = ['.bashrc', '.bash_profile', '.zshrc', '.config/fish/config.fish'];
const FISH_COMPLETION = '.config/fish/completions/vivarium.fish';

function commandTraces({ platform, home, readText }: TraceFacts): Trace[] {
  const fishFile = join(home, FISH_COMPLETION);
  const completed = COMPLETED_FILES.map((name) => join(home, name)).flatMap((file): Trace[] => {
    const line = (readText(file) ?? '').split(/\r?\n/).find((text) => text.includes('vivarium completion'));
    return line === undefined
      ? []
      : [
          {
            title: `${file} completes commands of Vivarium`,
            undo: `# Remove ${line.trim()} from ${file}`,
            found: true,
          },
        ];
  });
  return [
    ...(platform === 'win32' ? [] : completed),
    ...(readText(fishFile) === null
      ? []
      : [{ title: `${fishFile} completes commands of Vivarium`, undo: `rm -- ${posixWord(fishFile)}`, found: true }]),
    { title: 'The command vivarium, from npm link or npm i -g', undo: 'npm rm -g vivarium', found: false },
  ];
}

/** The effect of the app's *Start at Login*: an entry of the XDG autostart folder, or a system setting. */
function loginTraces({ platform, home, environment, readText }: TraceFacts): Trace[] {
  const title = '“Start at Login” of the app';
  if (platform === 'darwin') {
    return [{ title, undo: '# Remove Vivarium in System Settings → General → Login Items', found: false }];
  }
  if (platform === 'win32')
    return [{ title, undo: '# Switch Vivarium off in Settings → Apps → Startup', found: false }];
  const config = environment['XDG_CONFIG_HOME'] ?? '';
  const file = posix.join(
    posix.isAbsolute(config) ? config : posix.join(home, '.config'),
    'autostart',
    AUTOSTART_ENTRY,
  );
  return readText(file) === null
    ? []
    : [{ title: `${title} (${file})`, undo: `rm -- ${posixWord(file)}`, found: true }];
}

/** fish has no `unset`. `SHELL` is the user's login shell, the best guess for the shell in use. */
const isFish = ({ SHELL = '' }: TraceFacts['environment']): boolean => posix.basename(SHELL) === 'fish';
