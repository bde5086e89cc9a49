import { describe, expect, it } from 'vitest';
import { candidatesFor, type KnownNames } from '../../../../main/cli/words/complete.ts';
import { bashReplies, readBashLine } from '../../../../main/cli/words/completion.ts';
import { COMMANDS } from '../../../../main/cli/words/commands.ts';
import { FIRST_WORDS, firstHelp } from '../../../../main/cli/words/first-help.ts';
import { listNamespaces } from '../../../../main/cli/words/procedures.ts';

const LISTS: Record<string, string[] | undefined> = {
  'projects.list': ['demo', 'app'],
  'keys.list': ['CI', 'Key 1', 'nightly: arm', 'CI'],
  'domains.list': ['shop.acme.test'],
  'zones.list': ['acme.test', 'test'],
  'snapshots.list': ['before-demo', 'demo'],
  'breaks.catalogue': ['dns.servfail', 'http.empty-response'],
  'breaks.list': ['brk_1'],
  'drills.list': ['hammering'],
};

const NAMES: KnownNames = (list) => Promise.resolve((LISTS[list] ?? []).map((value) => ({ value })));

async function complete(...words: string[]): Promise<unknown> {
  const found = await candidatesFor(words, COMMANDS, NAMES);
  return typeof found === 'string' ? found : found.map(({ value }) => value);
}

describe('the candidates for a word', () => {
  it('are at most twenty at the beginning, each of them shown by the help', async () => {
    const found = (await complete('')) as string[];
    expect(found.length).toBeLessThanOrEqual(20);
    expect(found).toEqual(FIRST_WORDS);
    expect(firstHelp().split('\n').length - 1).toBeLessThanOrEqual(25);
    const wide = firstHelp()
      .split('\n')
      .filter((line) => line.length > 80);
    expect(wide).toEqual([]);
  });

  it('are all others where a beginning has none of those, without the hidden ones', async () => {
    expect(await complete('--data-dir', 'x', 'do')).toEqual(['doctor', 'domain']);
    expect(await complete('dow')).toEqual(['down']);
    const all = [...COMMANDS.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name), ...listNamespaces()];
    for (const word of all) expect(await complete(word)).toContain(word);
    for (const hidden of ['complete', 'serve']) expect(await complete(hidden.slice(0, -1))).not.toContain(hidden);
  });

  it('have --data-dir for every command but help and version', async () => {
    const without = await Promise.all(
      COMMANDS.map(async ({ name, load }) => {
        const { options } = await load();
        return options.some((option) => option.name === 'data-dir') ? [] : [name];
      }),
    );
    expect(without.flat()).toEqual(['complete', 'help', 'version']);
  });

  it('explain the options of a procedure', async () => {
    const found = await candidatesFor(['domains', 'attach', '--lo'], COMMANDS, NAMES);
    expect(found).toEqual([{ value: '--local', does: expect.stringMatching(/^deploy, put the record/) as string }]);
  });

  it.each<[string, unknown]>([
    ['--j', ['--json']],
    ['projects g', ['get']],
    ['domains set-', ['set-primary', 'set-redirects']],
    ['help clo', ['clock']],
    ['help clock a', ['advance']],
    ['doctor ', []],
    ['drill start ', ['hammering']],
    ['drill answer ', []],
    ['doctor --js', ['--json']],
    [
      'call ca.',
      ['ca.get', 'ca.export', 'ca.extend', 'ca.retract', 'ca.renew', 'ca.trustStatus', 'ca.trust', 'ca.untrust'],
    ],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['completion bash ', []],
    ['serve --data-dir ', ':files'],
    ['serve --http-port ', []],
    ['backup ', ['create', 'restore']],
    ['backup create ', ':files'],
    ['backup restore vi', ':files'],
    ['backup --data-dir d create --force ', ':files'],
    ['backup create a.db ', []],
    ['up --file ', ':files'],
    ['down a.yaml ', []],
    ['nonsense x ', 'nothing'],
    ['run ', ['shop.acme.test']],
    ['run --project a', ['app']],
    ['run shop.acme.test -- n', ':files'],
    // Options, once each, and their values.
    ['pets list --st', ['--status']],
    ['pets list --status sold --s', ['--search', '--sort']],
    ['pets list --status ', ['available', 'pending', 'sold']],
    ['pets list --project d', ['demo']],
    ['pets list --project-id d', ['demo']],
    ['pets import --text-file ', ':files'],
    ['pets list --output ', ':files'],
    ['projects create X --plan p', ['pro']],
    ['doctor run --areas li', ['listeners']],
    // Words without options: the project, or what follows if it is omitted.
    ['pets list ', ['demo', 'app']],
    ['pets list demo ', []],
    ['pets import ', ['demo', 'app', 'json', 'csv']],
    ['pets import demo ', ['json', 'csv']],
    ['pets import --project demo ', ['json', 'csv']],
    ['domains attach demo ', []],
    ['domains verify ', ['shop.acme.test']],
    ['zones export a', ['acme.test']],
    ['zones create ', []],
    ['snapshot restore b', ['before-demo']],
    ['snapshot list ', []],
    ['break ', ['list', 'off', 'dns.servfail', 'http.empty-response']],
    ['break list d', ['dns.servfail']],
    ['break off ', ['brk_1']],
    ['break dns.servfail ', ['shop.acme.test']],
    ['break dns.servfail --hostname ', ['shop.acme.test']],
    ['break dns.servfail --key C', ['CI']],
    ['snapshots remove ', ['before-demo', 'demo']],
    ['records put ', ['acme.test', 'test']],
    ['records put acme.test www CA', ['CAA']],
    ['keys revoke ', ['CI', 'Key 1', 'nightly: arm']],
  ])('%j: %j', async (line, expected) => {
    expect(await complete(...line.split(' ')).catch(() => 'nothing')).toEqual(expected);
  });
});

describe('a line of bash', () => {
  it.each([
    ['vivarium projects get ap', ['projects', 'get', 'ap'], ''],
    ['vivarium projects  get ', ['projects', 'get', ''], ''],
    ['vivarium keys revoke "Key ', ['keys', 'revoke', 'Key '], '"'],
    ["vivarium keys revoke 'it", ['keys', 'revoke', 'it'], "'"],
    ['vivarium keys revoke Key\\ 1', ['keys', 'revoke', 'Key 1'], ''],
    ['vivarium pets get "$(rm -rf x)" ', ['pets', 'get', '$(rm -rf x)', ''], ''],
    ['vivarium', [], ''],
  ])('%s', (line, words, quote) => {
    expect(readBashLine(line)).toMatchObject({ words, quote });
  });

  it.each([
    ['vivarium keys revoke K', 'Key 1', 'Key\\ 1'],
    ['vivarium keys revoke "K', 'Key "1"', 'Key \\"1\\"'],
    ["vivarium keys revoke 'K", 'Key 1', 'Key 1'],
    ['vivarium keys revoke nightly:', 'nightly: arm', '\\ arm'],
    ['vivarium keys revoke night', 'nightly: arm', 'nightly:\\ arm'],
    ['vivarium keys revoke n', 'n$(x)', 'n\\$\\(x\\)'],
  ])('%s is completed to %s by %s', (line, value, reply) => {
    expect(bashReplies(readBashLine(line), [{ value }])).toEqual([reply]);
  });
});
