import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../../main/cli/words/commands.ts';
import { COMPLETION } from '../../../../main/cli/words/completion.ts';
import { typedHelp } from '../../../../main/base/system/own-command.ts';
import { firstHelp } from '../../../../main/cli/words/first-help.ts';
import {
  EXIT_CODES,
  exitCodesHelp,
  generalHelp,
  namespaceHelp,
  procedureHelp,
  titleOf,
} from '../../../../main/cli/words/help.ts';
import { firstWord, flagsOf, listFields } from '../../../../main/cli/words/fields.ts';
import { DATA_DIR_FLAG, HELP_FLAG, JSON_FLAG, readArguments } from '../../../../main/cli/words/flags.ts';
import { fitHelp, widthOf } from '../../../../main/cli/text/text.ts';
import { EXIT_FAILED, EXIT_NOT_RUNNING, EXIT_OK } from '../../../../main/cli/text/io.ts';
import { buildInput } from '../../../../main/cli/words/input.ts';
import {
  findProcedure,
  isVerbFirst,
  listNamespaces,
  listProcedures,
  procedureCalled,
  requireNamespace,
} from '../../../../main/cli/words/procedures.ts';
import { readServeConfig, SERVE_FLAGS, variableOf } from '../../../../main/cli/engine/serve-options.ts';
import { ALL_DEEDS } from '../../../../main/cli/words/deeds.ts';
import { DRILLS } from '../../../../main/drills/catalogue/index.ts';
import { splitShellLine } from '../../../support/rpc/rpc-shell.ts';

const procedures = listNamespaces().flatMap(listProcedures);
const place = { platform: 'linux', env: {}, homeDir: '/home/ada', workingDir: '/work' } as const;

const commands = await Promise.all(COMMANDS.map(async (row) => ({ ...row, ...(await row.load()) })));

const helps = [
  ...commands.map(({ name, help }) => [`vivarium ${name}`, help(place)]),
  ...listNamespaces().map((namespace) => [`vivarium ${namespace}`, namespaceHelp(namespace)]),
  ...procedures.map((procedure) => [`vivarium ${procedure.words}`, procedureHelp(procedure)]),
] as [string, string][];

/** Runs an example up to the point where it would be sent; throws if it is refused before. */
async function check(line: string): Promise<void> {
  const words = splitShellLine(line);
  const env = words[0]?.includes('=') === true ? Object.fromEntries([(words.shift() ?? '').split('=')]) : {};
  const [program, command = '', ...rest] = words;
  expect(program).toBe('vivarium');
  const own = commands.find(({ name }) => name === command);
  if (command === 'start') {
    readServeConfig(
      rest.filter((word) => !/^(-d|--detach)$/.test(word)),
      { ...place, env: env as Record<string, string> },
    );
  } else if (command === 'call') {
    const [namespace = '', name = ''] = (rest[0] ?? '').split('.');
    const { inputType } = findProcedure(namespace, name);
    inputType.parse(rest[1] === undefined ? undefined : JSON.parse(rest[1]));
  } else if (command === 'completion') {
    expect(COMPLETION.words).toContain(rest[0]);
  } else if (command === 'complete') {
    expect(rest[0]).toBe('--');
  } else if (own !== undefined && (own.isNamespace !== true || rest[0]?.startsWith('-') !== false)) {
    const { positionals } = readArguments(rest, own.options);
    if (!/FILE|COMMAND|NAME|ENTRY/.test(own.usage)) expect(positionals).toEqual([]);
  } else if (rest.at(-1) !== '--help') {
    const at = firstWord(command, rest);
    const { procedure, isArgument } = procedureCalled(command, rest[at] ?? '', rest);
    const fields = listFields(procedure);
    const flags = [HELP_FLAG, JSON_FLAG, DATA_DIR_FLAG, ...flagsOf(fields)];
    const read = readArguments(isArgument ? rest : rest.toSpliced(at, 1), flags);
    await buildInput(procedure, fields, read, {
      readFile: (path) =>
        path === 'acme.zone'
          ? Promise.resolve('www A 192.0.2.1')
          : Promise.reject(new Error('An example names a file.')),
      chooseProject: () => Promise.resolve('demo'),
      isProject: () => Promise.resolve(false),
      presentTarget: () => Promise.resolve({ kind: 'api' }),
      workingDir: place.workingDir,
    });
  }
}

it.each(helps)('every example of %s works', async (_of, text) => {
  const lines = text
    .slice(text.search(/\n(?:Examples|Begin with)\n/))
    .split('\n')
    .filter((line) => line.includes('vivarium '));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => line.trim().length > 100)).toEqual([]);
  for (const line of lines) await check(line.trim());
});

it('the commands in the drills work', async () => {
  const texts = DRILLS.flatMap(({ command, taskCommand, hints, causes }) => [
    ...[command, taskCommand].filter((text) => text.startsWith('vivarium ')),
    ...[...hints, ...causes.map(({ why = '' }) => why)].flatMap((text) => text.match(/(?<=`)vivarium [^`]+/g) ?? []),
  ]);
  expect(texts.length).toBeGreaterThan(20);
  for (const text of texts) await check(text);
});

it('the commands that an empty list names work', async () => {
  for (const { empty: [, command] = [''] } of ALL_DEEDS.values())
    if (command !== undefined) await check(`vivarium ${command.replace('PROJECT', 'demo')}`);
});

describe('the help', () => {
  it('of a namespace has all its procedures, with descriptions', () => {
    for (const procedure of procedures) {
      const { words, summary } = procedure;
      const [word = ''] = words.split(' ');
      const name = titleOf(procedure).slice(word.length + 1) || '(alone)';
      const lines = namespaceHelp(word).split('\n');
      expect(lines.find((line) => line.startsWith(`  ${name} `) && line.endsWith(` ${summary}`))).toBeDefined();
      expect(summary).not.toBe('');
    }
  });

  it('of Vivarium has all namespaces and commands, each word once', () => {
    const tables = generalHelp(COMMANDS).slice(0, generalHelp(COMMANDS).indexOf('\nArguments'));
    const rows = [...tables.matchAll(/^ {2}([a-z]+) /gm)].flatMap(([, word]) => (word === 'vivarium' ? [] : [word]));
    const shown = COMMANDS.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name);
    expect(rows.sort()).toEqual([...new Set([...shown, ...listNamespaces()])].sort());
  });

  it.each([
    ['own server', 'run'],
    ['429', 'limits, key'],
    ['slow answers', 'break'],
    ['503s', 'break'],
    ['custom domain with HTTPS', 'domain, zone'],
    ['certificate refused', 'doctor'],
    ['tests in CI', 'rehearse'],
    ['rules of a provider', 'project'],
    ['against Vercel', 'provider'],
    ['move the time', 'clock'],
  ])('for a newcomer names the word for %s: %s', (job, words) => {
    expect(firstHelp()).toMatch(new RegExp(`^.{15}${words} +[^\n]*${job}`, 'm'));
  });

  it('for a newcomer has the long form of the command once', () => {
    const form = 'node /opt/vivarium/main/cli/bin.mjs';
    const origin = { env: { VIVARIUM_COMMAND: form }, platform: 'linux', workingDir: '/', homeDir: '/' } as const;
    expect(typedHelp(firstHelp(), origin).split(form).length).toBe(2);
    expect(typedHelp(generalHelp(COMMANDS), origin).split('\n\nExamples')[0]?.split(form).length).toBe(3);
  });

  it('of Vivarium has all commands with descriptions, and each has all its options', () => {
    for (const { name, summary, options, help, isHidden = false } of commands) {
      const row = new RegExp(`^  ${name} .*  ${summary}$`, 'm');
      expect([name, row.test(generalHelp(COMMANDS))]).toEqual([name, !isHidden]);
      for (const option of options.filter(({ name: flag }) => flag !== 'help' && !isHidden))
        expect([name, help(place)]).toEqual([name, expect.stringContaining(`--${option.name}`)]);
    }
  });

  it('fits 60 columns, except for text to be copied, and drops no word; a pipe gets it unchanged', () => {
    const wordsOf = (text: string) => text.split(/[\s,]+/);
    for (const [, text] of helps) {
      const fitted = fitHelp(text, 60);
      expect(wordsOf(fitted)).toEqual(wordsOf(text));
      const long = fitted.split('\n').filter((line) => widthOf(line) > 60);
      expect(long.filter((line) => /\S \S/.test(line) && !/ (vivarium|echo) /.test(line))).toEqual([]);
      expect(fitHelp(text, null)).toBe(text);
    }
  });

  it('breaks all rows of a table, or none', () => {
    const rows = [
      '  vivarium stop                          Stop it',
      '  vivarium completion bash|zsh|fish        Print a completion script',
    ];
    expect(fitHelp(`Usage\n${rows.join('\n')}\n\nMore\n  --help  This text`, 50).split('\n')).toEqual([
      'Usage',
      '  vivarium stop',
      '      Stop it',
      '  vivarium completion bash|zsh|fish',
      '      Print a completion script',
      '',
      'More',
      '  --help  This text',
    ]);
  });

  it('names the topic of exit codes, whose table contains the codes that commands exit with', () => {
    expect(generalHelp(COMMANDS)).toMatch(/^ {2}help exit-codes {2}/m);
    const codes = new Set(EXIT_CODES.map(([code]) => Number(code)));
    expect([...codes]).toEqual([EXIT_OK, EXIT_FAILED, EXIT_NOT_RUNNING]);
    for (const [code, , meaning] of EXIT_CODES) {
      expect(exitCodesHelp()).toMatch(new RegExp(`^ {2}${code} .* ${meaning}$`, 'm'));
    }
  });

  it('of start has all options with their variables and defaults', () => {
    const text = commands.find(({ name }) => name === 'start')?.help(place);
    for (const { name } of SERVE_FLAGS) expect(text).toContain(`--${name}`);
    for (const { name } of SERVE_FLAGS) if (name !== 'help') expect(text).toContain(variableOf(name));
    for (const port of [8080, 8443, 5380, 4780]) expect(text).toContain(`default ${port}`);
  });

  it.each([
    ['pets create', /--category-id INTEGER +required +an integer of 64 bits$/m],
    ['pets create', /--environment WORD +production, staging; default production$/m],
    ['pets list', /--limit NUMBER +1 to 1,000; default 50$/m],
    ['pets list', /^ {2}vivarium pet list \[PROJECT\] \[options\]$/m],
    ['pets create', /^ {2}vivarium pet create \[PROJECT\] NAME CATEGORY-ID \[options\]$/m],
    [
      'pets create',
      /^ {2}--project TEXT +an id, a slug or a name; default: the only project, that of a run in this folder, or the one whose slug/m,
    ],
    ['projects remove', /^ {2}vivarium project remove PROJECT$/m],
    ['projects remove', /^ {2}--project TEXT +required +an id, a slug or a name$/m],
    ['projects update', /^ {2}--target TEXT +a URL, host:port, a port, or api$/m],
    ['ca trust', /^ {2}--store TEXT +required +system, nss:user, or another/m],
    ['pets get', /^ {2}vivarium pet get demo 7$/m],
    ['domains set-redirects', /^ {2}vivarium domain set-redirects \[PROJECT\] --redirects JSON$/m],
    ['domains attach', /^ {2}--local +deploy, put the record/m],
    ['api send', /^ {2}--headers JSON +such as '\{"Accept":"application\/json"\}'$/m],
    ['pets get-many', /^ {2}--ids INTEGER +required +an integer of 64 bits; may be given more than once$/m],
    ['zones import', /^ {2}--files JSON +the texts of \$INCLUDE lines, by file name$/m],
    ['keys revoke', /^ {2}vivarium key revoke KEY$/m],
    ['pets import', /--text-file FILE/],
    ['projects create', /--limits\.per-minute NUMBER/],
    ['projects create', /--target\.kind WORD +api, upstream$/m],
    ['clock advance', /such as 10m/],
    ['settings update', /--cors TEXT +\*; such as http:\/\/localhost:5173; may be given more than once$/m],
  ])('of %s contains: %s', (command, pattern) => {
    const [namespace = '', name = ''] = command.split(' ');
    expect(procedureHelp(findProcedure(namespace, name))).toMatch(pattern);
  });

  it('explains every option of a procedure', () => {
    for (const [command, text] of helps) {
      const rows = text.split('\n').filter((line) => /^ +--/.test(line));
      const bare = rows.filter((row) => row.trim().replace('  required', '').split(/ {2,}/).length < 2);
      expect([command, bare]).toEqual([command, []]);
    }
  });

  it('has no procedure option with the name of a command-line option', () => {
    const own = [HELP_FLAG, JSON_FLAG, DATA_DIR_FLAG].map(({ name }) => name);
    for (const procedure of procedures) {
      const names = flagsOf(listFields(procedure)).map((flag) => flag.name);
      expect([procedure.words, names.filter((flag) => own.includes(flag) || flag.startsWith('no-'))]).toEqual([
        procedure.words,
        [],
      ]);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});

it.each([
  ['constructor', 'list', /^There is no command "constructor"/],
  ['pets', 'constructor', /^pet has no procedure "constructor"/],
  ['projects', 'erase', /^project has no procedure "erase"\. There are list, get, /],
  ['domains', 'add', /^domain has no procedure "add"\. Did you mean "attach"\?/],
  ['traffic', 'rm', /^traffic has no procedure "rm"\. Did you mean "clear"\?/],
  ['dns', 'list', /^dns has no procedure "list"\. There is only query\.$/],
  ['trust', 'system', /^There is no command "trust"\. Did you mean "ca trust"\?/],
  ['watch', '', /^There is no command "watch"\. Did you mean "traffic watch" or "events watch"\?/],
  ['create', 'project', /^There is no command "create"\. "npm run/],
])('names the nearest match for the unknown %s %s', (namespace, name, message) => {
  expect(() => findProcedure(namespace, name)).toThrow(message);
});

it.each([
  ['project', 'ls', 'project list'],
  ['projects', 'list', 'project list'],
  ['domain', 'rm', 'domain remove'],
  ['key', 'delete', 'key revoke'],
  ['caa', 'show', 'caa explain'],
  ['breaks', 'ls', 'break'],
  ['break', 'rm', 'break off'],
  ['limit', 'usage', 'limits usage'],
  ['setting', 'get', 'settings get'],
])('%s %s is %s', (namespace, name, words) => {
  expect(findProcedure(namespace, name).words).toBe(words);
});

it('a procedure may come before its namespace', () => {
  expect(isVerbFirst('list', 'projects')).toBe(true);
  expect(isVerbFirst('delete', 'domain')).toBe(true);
  expect(isVerbFirst('projects', 'list')).toBe(false);
  expect(isVerbFirst('projets', 'list')).toBe(false);
});

it('no help and no message names a namespace in the plural, which the contract has', () => {
  const plurals =
    /vivarium (?:projects|deploys|keys|pets|orders|domains|zones|records|certificates|requests|breaks|drills|snapshots)\b/;
  for (const [name, text] of helps) expect([name, plurals.exec(text)?.[0]]).toEqual([name, undefined]);
  const main = join(import.meta.dirname, '..', '..', '..', '..', 'main');
  const sources = globSync('**/*.{ts,mjs}', { cwd: main }).filter((file) =>
    plurals.test(readFileSync(join(main, file), 'utf8')),
  );
  expect(sources).toEqual([]);
});

it('names the nearest match for a misspelt command from the table too', () => {
  expect(() => requireNamespace('srve', ['serve', 'call'])).toThrow('Did you mean "serve"?');
});
