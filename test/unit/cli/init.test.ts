import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkFile } from '../../../main/offline/check-file.ts';
import { COMMANDS } from '../../../main/cli/words/commands.ts';
import { initByQuestions } from '../../../main/cli/init.ts';
import { readInitFolder, vivariumFile, withSchemaFor } from '../../../main/cli/init/folder.ts';
import { withScripts } from '../../../main/cli/init/plan.ts';
import { findProcedure } from '../../../main/cli/words/procedures.ts';
import { slugify } from '../../../main/contract/hostnames.ts';
import { readWorld } from '../../../main/world/read.ts';
import { commandHere, runHere } from '../../support/cli-io.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function folderWith(files: Record<string, string>): string {
  const folder = join(temporaryFolder(), 'shop');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

const packageOf = (dev: string, rest: object = {}): string =>
  `${JSON.stringify({ name: 'shop', scripts: { dev }, ...rest }, null, 2)}\n`;

describe('a script in the text of package.json', () => {
  /** The value of the script is at the `§`. */
  it.each([
    ['two spaces', '{\n  "scripts": {\n    "dev": §\n  }\n}\n'],
    ['tabs, and no line break at the end', '{\n\t"scripts": {\n\t\t"dev": §\n\t}\n}'],
    ['Windows', '{\r\n  "scripts": { "dev" : § }\r\n}\r\n'],
    ['one line', '{"scripts":{"dev":§}}'],
    ['quotes and backslashes', String.raw`{"x":"\"dev\":","scripts":{"dev":§}}`, String.raw`"\\\"a"`],
    [
      'another, deeper',
      '{"dev":"x","jest":{"scripts":{"dev":"x"}},"scripts":{"a":["dev","x"],"dev":§},"y":{"dev":"x"}}',
    ],
    ['two of the same name, as in JSON.parse', '{"scripts":{"dev":"x","dev":§}}'],
  ])('is changed without touching the rest: %s', (_what, text, before = '"a"') => {
    expect(
      withScripts(
        text.replace('§', () => before),
        { dev: 'b' },
        'dev',
      ),
    ).toBe(text.replace('§', '"b"'));
  });

  it('is added after another one, in the same format', () => {
    const before = '{\n\t"scripts": {\n\t\t"dev": "a",\n\t\t"test": "t"\n\t}\n}\n';
    const after = '{\n\t"scripts": {\n\t\t"dev": "b",\n\t\t"dev:app": "a",\n\t\t"test": "t"\n\t}\n}\n';
    expect(withScripts(before, { dev: 'b', 'dev:app': 'a' }, 'dev')).toBe(after);
  });
});

describe('vivarium.yaml', () => {
  it('has a project with its hostname', () => {
    expect(vivariumFile({ name: 'Shop', hostname: 'app.acme.test', run: 'next dev' }))
      .toBe(`# yaml-language-server: $schema=http://127.0.0.1:4780/vivarium.schema.json
vivarium: 1

projects:
  app-acme-test:
    name: Shop
    plan: pro
    run: next dev
    domains:
      app.acme.test: {}

zones:
  acme.test: |
    app CNAME cname.vivarium.localhost.
`);
  });

  it.each([
    ['acme.test', 'acme.test', '@ ALIAS'],
    ['a.b.acme.test', 'acme.test', 'a.b CNAME'],
    ['shop.acme.co.uk', 'acme.co.uk', 'shop CNAME'],
  ])('has the zone and the record of %s', async (hostname, zone, record) => {
    const { world } = await readWorld(vivariumFile({ name: 'Shop', hostname, run: null }), {});
    expect(world.zones).toEqual({ [zone]: { text: `${record} cname.vivarium.localhost.\n` } });
  });

  it('names the schema of the installed package, which colleagues have too', async () => {
    const cwd = folderWith({ 'package.json': packageOf('next dev') });
    const resources = join(cwd, 'node_modules', 'vivarium', 'resources');
    mkdirSync(resources, { recursive: true });
    writeFileSync(join(resources, 'vivarium.schema.json'), '{}');
    expect((await runHere(['init', 'shop', '--yes'], { cwd })).code).toBe(0);
    const first = '# yaml-language-server: $schema=./node_modules/vivarium/resources/vivarium.schema.json';
    expect(read(cwd, 'vivarium.yaml').split('\n')[0]).toBe(first);
    const served = '# $schema=http://127.0.0.1:4780/vivarium.schema.json';
    expect(withSchemaFor(cwd, served)).toBe('# $schema=./node_modules/vivarium/resources/vivarium.schema.json');
  });

  it.each(['next dev', 'a: b # c', '"quoted" --x="y"', 'yes', '- dash', '店 {x}'])(
    'is accepted by "vivarium check" with the command %s',
    async (run) => {
      const text = vivariumFile({ name: `The ${run}`, hostname: 'app.acme.test', run });
      expect(await checkFile(text, {})).toEqual([]);
      const { world } = await readWorld(text, {});
      expect(world.projects?.['app-acme-test']).toMatchObject({ name: `The ${run}`, run });
    },
  );

  it.each([
    ['yes', '  "yes":\n    name: "yes"\n'],
    ['42', '  "42":\n    name: "42"\n'],
    ['A: "b" #c', '  a-b-c:\n    name: "A: \\"b\\" #c"\n'],
  ])('contains %s in quotes if YAML needs them', async (name, lines) => {
    const text = vivariumFile({ name, hostname: null, run: null });
    expect(text).toContain(lines);
    expect((await readWorld(text, {})).world.projects?.[slugify(name)]?.name).toBe(name);
  });
});

describe('the facts of a folder', () => {
  const django = { framework: 'Django', command: 'python3 manage.py runserver' };
  const angular = { scripts: { start: 'ng serve' }, dependencies: { '@angular/core': '1' } };
  const next = packageOf('next dev', { dependencies: { next: '1', vite: '1' } });
  it.each<[string, Record<string, string>, object]>([
    [
      'Next.js with pnpm',
      { 'package.json': next, 'pnpm-lock.yaml': '' },
      { framework: 'Next.js', command: 'next dev', package: { manager: 'pnpm', script: 'dev' } },
    ],
    [
      'Angular, and Corepack',
      { 'package.json': JSON.stringify({ packageManager: 'yarn@4.1.0', ...angular }) },
      { framework: 'Angular', command: 'ng serve', package: { manager: 'yarn', script: 'start' } },
    ],
    ['Django', { 'manage.py': '' }, { ...django, package: null }],
    ['Rack', { 'config.ru': '', bin: '' }, { framework: 'Rack', command: 'bundle exec rackup' }],
    ['Rails', { 'config.ru': '', bin: '', Gemfile: '' }, { framework: 'Rails', command: 'bin/rails server' }],
    ['Go', { 'go.mod': 'module shop' }, { framework: 'Go', command: 'go run .' }],
    ['Django without scripts', { 'manage.py': '', 'package.json': '{}' }, { ...django, package: { script: null } }],
    ['nothing', {}, { name: 'shop', framework: null, command: null }],
  ])('%s', async (_what, files, said) => {
    expect(await readInitFolder(folderWith(files))).toMatchObject(said);
  });

  it('cannot be read from an invalid package.json', async () => {
    const cwd = folderWith({ 'package.json': '{ "scripts": ' });
    const refusal = { code: 1, stderr: expect.stringContaining('is not JSON') };
    expect(await runHere(['init', '--yes'], { cwd })).toMatchObject(refusal);
    expect(readdirSync(cwd)).toEqual(['package.json']);
  });
});

describe('vivarium init', () => {
  it('writes the file and one word, and does nothing the second time', async () => {
    const cwd = folderWith({ 'package.json': packageOf('next dev --turbo') });
    const { code, stdout, stderr } = await runHere(['init', '--yes'], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain('Written: vivarium.yaml, package.json. Start your app: npm run dev');
    expect(stdout).toContain('  -     "dev": "next dev --turbo"\n  +     "dev": "vivarium run -- next dev --turbo"\n');
    expect(read(cwd, 'package.json')).toBe(packageOf('vivarium run -- next dev --turbo'));
    expect(read(cwd, 'vivarium.yaml')).toBe(vivariumFile({ name: 'shop', hostname: null, run: 'next dev --turbo' }));
    const again = await runHere(['init', '--yes'], { cwd });
    expect(again).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Nothing needs to be written.'),
    });
    expect(read(cwd, 'package.json')).toBe(packageOf('vivarium run -- next dev --turbo'));
  });

  it.each([
    ['a hostname', ['App.Acme.Test'], 'vite', { dev: 'vivarium run app.acme.test -- vite' }],
    ['another name', ['My Shop'], 'vite', { dev: 'vivarium run my-shop -- vite' }],
    ['another command', ['--', 'vite', '--host'], 'vite', { dev: 'vivarium run -- vite --host' }],
    ['variables', [], 'DEBUG=1 vite', { dev: 'vivarium run -- npm run dev:app', 'dev:app': 'DEBUG=1 vite' }],
    ['two commands', [], 'a & vite', { dev: 'vivarium run -- npm run dev:app', 'dev:app': 'a & vite' }],
  ])('accepts %s', async (_what, words, dev, scripts) => {
    const cwd = folderWith({ 'package.json': packageOf(dev) });
    expect(await runHere(['init', '--yes', ...words], { cwd })).toMatchObject({ code: 0 });
    expect(JSON.parse(read(cwd, 'package.json'))).toMatchObject({ scripts });
  });

  it.each([
    ['a dry run', ['init', '--dry-run'], 0],
    ['no terminal to ask in', ['init'], 1],
    ['no hostname', ['init', '--yes', 'app..test'], 1],
    ['no name', ['init', '--yes', '店'], 1],
    ['an extra word', ['init', '--yes', 'a', 'b'], 1],
  ])('writes nothing with %s', async (_what, args, code) => {
    const cwd = folderWith({ 'package.json': packageOf('vite') });
    expect(await runHere(args, { cwd })).toMatchObject({ code });
    expect([readdirSync(cwd), read(cwd, 'package.json')]).toEqual([['package.json'], packageOf('vite')]);
  });

  it('keeps a byte order mark, and an existing dev:app', async () => {
    const text = `\uFEFF${JSON.stringify({ scripts: { dev: 'a && b', 'dev:app': 'c' } })}`;
    const cwd = folderWith({ 'package.json': text });
    const start = 'vivarium run -- npm run dev';
    const said = { code: 0, stderr: expect.stringContaining(start), stdout: expect.stringContaining(start) };
    expect(await runHere(['init', '--yes'], { cwd })).toMatchObject(said);
    expect(read(cwd, 'package.json')).toBe(text);
    writeFileSync(join(cwd, 'package.json'), text.replace('a && b', 'a'));
    await runHere(['init', '--yes'], { cwd });
    expect(read(cwd, 'package.json')).toBe(text.replace('a && b', 'vivarium run -- a'));
  });

  it('takes the command from a script that already runs "vivarium run"', async () => {
    const cwd = folderWith({ 'package.json': packageOf('vivarium run shop -- next dev') });
    expect(await runHere(['init', '--yes'], { cwd })).toMatchObject({ code: 0 });
    expect(read(cwd, 'vivarium.yaml')).toBe(vivariumFile({ name: 'shop', hostname: null, run: 'next dev' }));
    expect(read(cwd, 'package.json')).toBe(packageOf('vivarium run shop -- next dev'));
  });

  it('leaves an existing vivarium.yaml unchanged', async () => {
    const cwd = folderWith({ 'vivarium.yml': 'vivarium: 1\n', 'manage.py': '' });
    const kept = { code: 0, stdout: expect.stringContaining('vivarium.yml already exists.') };
    expect(await runHere(['init', '--yes'], { cwd })).toMatchObject(kept);
    expect(readdirSync(cwd)).toEqual(['manage.py', 'vivarium.yml']);
  });

  it('asks for name, command and consent, and respects a no', async () => {
    const cwd = folderWith({ 'package.json': packageOf('vite') });
    const folder = await readInitFolder(cwd);
    const ask = async (...answers: (string | null)[]) => {
      const asked: string[] = [];
      const { io, printed } = commandHere({ cwd });
      const question = (text: string, byDefault: string) => {
        asked.push(`${text} [${byDefault}]`);
        const answer = answers[asked.length - 1];
        return Promise.resolve(answer === undefined ? byDefault : answer);
      };
      const code = await initByQuestions(folder, { word: undefined, command: undefined, agents: false }, question, io);
      return { code, asked, printed };
    };
    const { code: refused, printed } = await ask('app.acme.test', 'vite --open', 'no');
    expect(refused).toBe(1);
    expect(printed.stdout).toContain('vivarium run app.acme.test -- vite --open');
    expect(await ask(null)).toMatchObject({ code: 1 });
    expect(readdirSync(cwd)).toEqual(['package.json']);
    const { code, asked } = await ask();
    const questions = ['Name or hostname of the app? [shop]', 'Command that starts it? [vite]', 'Write this? [yes]'];
    expect(asked).toEqual(questions);
    expect([code, read(cwd, 'package.json')]).toEqual([0, packageOf('vivarium run -- vite')]);
  });

  it('reports that the script needs the command on every machine, unless the package depends on it', async () => {
    const text = packageOf('vite');
    const needs = 'The script needs the command "vivarium" on every machine, also those of your colleagues: ';
    const said = async (file: string) =>
      (await runHere(['init', '--yes'], { cwd: folderWith({ 'package.json': file }) })).stderr;
    expect(await said(text)).toContain(needs);
    const dependent = text.replace('{', '{"devDependencies": {"vivarium": "file:vivarium-0.1.0.tgz"},');
    expect(await said(dependent)).not.toContain(needs);
    expect((await runHere(['init', '--yes'], { cwd: folderWith({ 'manage.py': '' }) })).stderr).not.toContain(needs);
  });

  it('does not overwrite what has changed since it was shown', async () => {
    const cwd = folderWith({ 'package.json': packageOf('vite') });
    const folder = await readInitFolder(cwd);
    const question = (text: string, byDefault: string) => {
      if (text === 'Write this?') writeFileSync(join(cwd, 'package.json'), packageOf('webpack'));
      return Promise.resolve(byDefault);
    };
    const { io } = commandHere({ cwd });
    const asking = initByQuestions(folder, { word: undefined, command: undefined, agents: false }, question, io);
    await expect(asking).rejects.toThrow('package.json has changed meanwhile');
    expect(readdirSync(cwd)).toEqual(['package.json']);
  });
});

describe('AGENTS.md', () => {
  it('keeps its other content, and replaces Vivarium’s part', async () => {
    const cwd = folderWith({ 'package.json': packageOf('vite'), 'AGENTS.md': '# Shop\r\n\r\nUse tabs.\r\n' });
    const init = () => runHere(['init', '--yes', '--agents', 'app.acme.test'], { cwd });
    await init();
    const first = read(cwd, 'AGENTS.md');
    expect(first).toMatch(
      /^# Shop\r\n\r\nUse tabs\.\r\n\r\n<!-- vivarium: begin[^]*`npm run dev`[^]* app\.acme\.test [^]*end -->\r\n$/,
    );
    expect(first.replaceAll('\r\n', '')).not.toMatch(/\n/);
    await init();
    expect(read(cwd, 'AGENTS.md')).toBe(first);
    const edited = first.replace('`npm run dev`', '`npm start`').replace('Use tabs', 'Use spaces');
    writeFileSync(join(cwd, 'AGENTS.md'), edited);
    await init();
    expect(read(cwd, 'AGENTS.md')).toBe(first.replace('Use tabs', 'Use spaces'));
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['the dev script and vivarium.yaml', { 'package.json': packageOf('vite') }, ['app.ag.test']],
    ['vivarium.yaml', { 'manage.py': '' }, ['app.ag.test']],
    ['a dev script with options', { 'package.json': packageOf('vivarium run --port 3000 app.ag.test -- vite') }, []],
    [
      'the primary of a longer vivarium.yaml',
      {
        'manage.py': '',
        'vivarium.yml': `vivarium: 1
projects:
  other: {name: Other}
  app-ag-test: {name: A, run: x, primary: app.ag.test, domains: {"*.ag.test": {}, b.test: {}, app.ag.test: {}}}
`,
      },
      [],
    ],
  ])('has the hostname of %s, without a port, and stays the same', async (_what, files, words) => {
    const cwd = folderWith(files);
    expect(await runHere(['init', ...words, '--yes'], { cwd })).toMatchObject({ code: 0 });
    await runHere(['init', '--agents', '--yes'], { cwd });
    const text = read(cwd, 'AGENTS.md');
    expect(text).toContain(' app.ag.test ');
    expect(text).toContain('`vivarium ps --json`');
    expect(text).toContain('`vivarium limits usage app-ag-test`');
    expect(text).not.toMatch(/:8443|shop/);
    const again = await runHere(['init', '--agents', '--yes'], { cwd });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing needs to be written.') });
    expect(read(cwd, 'AGENTS.md')).toBe(text);
  });

  it('is not written for another name than that of the dev script', async () => {
    const cwd = folderWith({ 'package.json': packageOf('vivarium run app.ag.test -- vite') });
    const { code, stderr } = await runHere(['init', 'b.test', '--agents', '--yes'], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining('already runs app.ag.test')]);
    expect(readdirSync(cwd)).toEqual(['package.json']);
  });

  it('names existing commands only', async () => {
    const cwd = folderWith({ 'manage.py': '' });
    await runHere(['init', '--yes', '--agents'], { cwd });
    const named = [...read(cwd, 'AGENTS.md').matchAll(/`vivarium ([^`]+)`/g)];
    const commands = named.map(([, line = '']) => line.split(' '));
    expect(commands.length).toBeGreaterThan(8);
    for (const [name = '', procedure = ''] of commands) {
      if (!COMMANDS.some((command) => command.name === name)) findProcedure(name, procedure);
    }
  });
});
