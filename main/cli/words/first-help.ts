import { EXIT_OK, printFailure, writeHelp } from '../text/io.ts';
import { columns } from '../text/text.ts';
import type { Command, LoadedCommand } from './command.ts';
import { DATA_DIR_FLAG, HELP_FLAG, JSON_FLAG, readArguments, switchOption } from './flags.ts';

/** What `vivarium` alone shows, and what a shell offers first. A row of several words begins with the common one. */
const FIRST: Readonly<Record<string, readonly (readonly [words: string, does: string])[]>> = {
  'Run your app': [
    ['run', 'your own server at a hostname, over HTTPS'],
    ['init', 'put that into the dev script'],
  ],
  'Look at it': [
    ['open', 'the window; open app.acme.test: your hostname'],
    ['traffic', 'each request, and what answered it'],
    ['doctor', 'why it fails: a certificate refused, no such host'],
  ],
  'Limit it': [
    ['limits, key', 'use up a plan: 429s, bans, until when; keys'],
    ['project', 'plans; the rules of a provider: Vercel, Netlify …'],
  ],
  'Give it names': [
    ['domain, zone', 'a custom domain with HTTPS: checks; the local DNS'],
    ['certificate', 'issue, renew, revoke, export'],
  ],
  'Break it': [
    ['break', 'slow answers; two 503s, then 200; certificates'],
    ['drill', 'something is wrong: find the cause, and fix it'],
    ['clock', 'move the time: limits reset, certificates expire'],
  ],
  'Test it': [
    ['rehearse', 'tests in CI: a scenario, with a JUnit report'],
    ['examine', 'your own tests, in CI too, under many faults'],
    ['provider', 'your app against Vercel’s, Cloudflare’s API'],
    ['up', 'projects, domains and zones from a file'],
  ],
  Vivarium: [['start, stop', 'in the background: start -d']],
};

export const FIRST_WORDS: readonly string[] = Object.values(FIRST).flatMap((rows) =>
  rows.flatMap(([words]) => words.split(', ')),
);

/** Text of `vivarium help`, short enough for any terminal. */
export function firstHelp(): string {
  const rows = Object.entries(FIRST).flatMap(([heading, words]) =>
    words.map((row, index) => [index === 0 ? heading : '', ...row]),
  );
  return `vivarium: your own server, or a sample API, at real hostnames on this machine

Begin with
  vivarium run app.acme.test -- npm run dev

${columns(rows).join('\n')}

"help WORD" explains one, "help --all" lists everything.
`;
}

const ALL = switchOption('all', 'List all commands and procedures');

/** The command `help`, for the commands of the table. Only topics load the contract. */
export const createHelp = (commands: readonly Command[]): LoadedCommand => ({
  options: [ALL, HELP_FLAG],
  help: firstHelp,
  async run(args, io) {
    try {
      const read = readArguments(args, [ALL, DATA_DIR_FLAG, JSON_FLAG, HELP_FLAG]);
      const isFirst = read.positionals.length === 0 && !read.isOn(ALL);
      writeHelp(isFirst ? firstHelp() : await (await import('./help.ts')).helpOn(read.positionals, commands, io), io);
      return EXIT_OK;
    } catch (error) {
      return printFailure(error, args, io);
    }
  },
});
