import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  commandAnywhere,
  formHeader,
  givenFolder,
  inFormOf,
  ownCommand,
  startCommand,
  typed,
  typedHelp,
  typedIn,
  type Origin,
} from '../../../../main/base/system/own-command.ts';

const clone = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..');

const from = (workingDir: string, env: Origin['env'] = {}): Origin => ({
  ...{ env, platform: 'linux', workingDir, homeDir: '/home/ada' },
});
const BESIDE = `npm --prefix ${clone} run -s vivarium -- status get`;

describe('a printed command of Vivarium', () => {
  it.each([
    ['in the clone', from(clone), 'npm run -s vivarium -- status get'],
    ['in a folder of the clone', from(join(clone, 'docs')), 'npm run -s vivarium -- status get'],
    ['beside the clone', from(dirname(clone)), BESIDE],
    ['beside a folder whose name begins alike', from(`${clone}..x`), BESIDE],
    ['through npx', from(clone, { VIVARIUM_COMMAND: 'npx vivarium' }), 'npx vivarium status get'],
    ['installed', from('/home/ada', { VIVARIUM_COMMAND: 'vivarium' }), 'vivarium status get'],
  ])('works where it was typed: %s', (_where, origin, line) => {
    expect(typed('vivarium status get', origin)).toBe(line);
  });

  it('works in any folder where a page shows it', () => {
    expect(commandAnywhere('/a b')).toBe(`npm --prefix ${clone} run -s vivarium -- --data-dir '/a b'`);
    const asked = inFormOf(undefined, () => typed('vivarium status get'));
    expect(asked).toBe(BESIDE);
    // npx finds its command only where it is installed.
    vi.stubEnv('VIVARIUM_COMMAND', 'npx vivarium');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(commandAnywhere('/a')).toBe(`node ${join(clone, 'main', 'cli', 'bin.mjs')} --data-dir /a`);
    vi.unstubAllEnvs();
    expect(startCommand('/a b')).toBe(`npm --prefix ${clone} run -s vivarium -- start --data-dir '/a b'`);
  });

  it('contains the data folder, quoted, unless it is the default or already named', () => {
    const origin = from(clone, { VIVARIUM_COMMAND: 'vivarium' });
    expect(ownCommand('/a b', origin)('vivarium stop')).toBe("vivarium stop --data-dir '/a b'");
    expect(ownCommand('/a', origin)('vivarium stop --data-dir /b')).toBe('vivarium stop --data-dir /b');
    const usual = '/home/ada/.local/share/vivarium';
    expect(ownCommand(usual, origin)('vivarium stop')).toBe('vivarium stop');
    // A command without the folder refers to another one there.
    const elsewhere = from(clone, { VIVARIUM_COMMAND: 'vivarium', VIVARIUM_DATA_DIR: '/a' });
    expect(ownCommand(usual, elsewhere)('vivarium stop')).toBe(`vivarium stop --data-dir ${usual}`);
  });

  it('names the data folder that the running command was given, unless it is help', () => {
    vi.stubEnv('VIVARIUM_COMMAND', 'vivarium');
    onTestFinished(() => void vi.unstubAllEnvs());
    const said = givenFolder('/a b', () => [
      typed('vivarium run app.test -- npm start'),
      typed('vivarium help --all'),
      typedIn('See "vivarium doctor --help" or `vivarium doctor`. To trust it: vivarium ca trust.'),
    ]);
    expect(said).toEqual([
      "vivarium run app.test --data-dir '/a b' -- npm start",
      'vivarium help --all',
      `See "vivarium doctor --help" or \`vivarium doctor --data-dir '/a b'\`. To trust it: vivarium ca trust --data-dir '/a b'.`,
    ]);
  });

  it('has the form of the program that asked the engine, also where the engine runs in another folder', async () => {
    const told = (command: string) => `a.yaml:1:1: vivarium is required. See "${command} doctor". Then: ${command} up`;
    const asked = (header: string) =>
      inFormOf(header, async () => {
        await Promise.resolve();
        return [ownCommand('/a b')('vivarium stop'), typedIn(told('vivarium')), formHeader()];
      });
    const linked = new URLSearchParams({ program: 'vivarium', dir: '/a b' }).toString();
    const byNpx = new URLSearchParams({ program: 'npx vivarium' }).toString();
    expect(await Promise.all([asked(linked), asked(byNpx)])).toEqual([
      ['vivarium stop', told('vivarium'), linked],
      ["npx vivarium stop --data-dir '/a b'", told('npx vivarium'), byNpx],
    ]);
  });

  it('is adapted in a help text only on the lines of commands', () => {
    const text = `vivarium call: one procedure of vivarium

Usage
  vivarium call <name>

  Finds the vivarium there.
  VIVARIUM_HTTP_PORT=1 vivarium serve
  vivarium
`;
    expect(typedHelp(text, from('/', { VIVARIUM_COMMAND: 'npx vivarium' }))).toBe(
      text
        .replace('  vivarium call', '  npx vivarium call')
        .replace('1 vivarium serve', '1 npx vivarium serve')
        .replace('  vivarium\n', '  npx vivarium\n'),
    );
  });
});
