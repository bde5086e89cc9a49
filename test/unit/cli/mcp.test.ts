import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allInTools, fenced, fit, withoutSecrets } from '../../../main/cli/mcp/serve.ts';
import { procedureNamed } from '../../../main/cli/words/procedures.ts';
import type { Ask } from '../../../main/contract/index.ts';
import { define, offered, TOOLS } from '../../../main/cli/mcp/tools.ts';

/** An overestimate of the tokens: JSON of this kind has about four characters a token. */
const CHARACTERS_PER_TOKEN = 3;

describe('the tools of assistants', () => {
  it('are at most 17, of at most 4,000 tokens together', () => {
    expect(TOOLS.length).toBeLessThanOrEqual(17);
    expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length);
    const tokens = JSON.stringify(TOOLS.map(define)).length / CHARACTERS_PER_TOKEN;
    expect(tokens).toBeLessThanOrEqual(4_000);
  });

  it.each(TOOLS)('$name has the parameters of $procedure', (tool) => {
    const { properties = {}, required = [] } = procedureNamed(tool.procedure).input;
    const { inputSchema } = define(tool);
    const names = Object.keys(inputSchema['properties'] as object);
    expect(names).toEqual(tool.offers ?? Object.keys(properties));
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(names));
    expect(inputSchema['required'] ?? []).toEqual(required);
  });

  it('name existing procedures', () => {
    const covered = TOOLS.flatMap(({ covers = [] }) => covers);
    expect(covered.map(procedureNamed)).toHaveLength(covered.length);
  });

  it('are all in the guide, the read-only ones in its first table', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/work-with-an-assistant.md'), 'utf8');
    const tables = guide.split('| To ').slice(1);
    const named = tables.map((table) => [...table.matchAll(/^\|.*$/gm)].join('').match(/(?<=`)[a-z_]+(?=`)/g) ?? []);
    const reading = offered(false).map(({ name }) => name);
    const writing = TOOLS.map(({ name }) => name).filter((name) => !reading.includes(name));
    expect(named.map((names) => names.toSorted())).toEqual([reading.toSorted(), writing.toSorted()]);
  });

  it('change nothing, unless writes are allowed', () => {
    const reading = ['status', 'list_traffic', 'explain_request', 'explain_domain', 'explain_certificate'];
    const others = ['explain_limits', 'grade_clients', 'query_dns', 'doctor'];
    expect(offered(false).map(({ name }) => name)).toEqual([...reading, ...others]);
    expect(offered(true)).toEqual(TOOLS);
  });
});

it.each(['api.send', 'caa.explain', 'domains.get'] as const)(
  'a hostname below a wildcard of another project is refused to %s',
  async (procedure) => {
    const answers: Record<string, unknown> = {
      'projects.get': { id: 'prj_1', slug: 'shop', name: 'Shop' },
      'projects.list': [],
      'domains.list': [
        { hostname: '*.acme.test', projectId: 'prj_2' },
        { hostname: '*.shop.test', projectId: 'prj_1' },
      ],
    };
    const engine = ((called) => Promise.resolve(answers[called] ?? {})) as Ask;
    const ask = await fenced(engine, 'shop');
    const refused = 'x.acme.test belongs to another project.';
    await expect(ask(procedure, { hostname: 'x.acme.test' })).rejects.toThrow(refused);
    expect(await ask(procedure, { hostname: 'x.shop.test' })).toEqual({});
  },
);

describe('an answer', () => {
  it.each<[string, unknown, RegExp, number | null]>([
    ['that is short is whole', { items: [1, 2] }, /^\{"items":\[1,2\]\}$/, null],
    ['loses the ends of lists', { items: Array.from({ length: 500 }, (_, n) => n) }, /99,"… \(400 more\)"\]\}$/, 100],
    ['loses the ends of texts', { body: 'ä'.repeat(9_000) }, /ä… \(\d+ more characters\)"\}$/, null],
    [
      'of many properties is cut',
      Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`n${n}`, n])),
      /^\{"n0":0/,
      null,
    ],
  ])('%s', (_what, value, text, shown) => {
    const fitted = fit(value, 1_000);
    expect(fitted.text).toMatch(text);
    expect(Buffer.byteLength(fitted.text)).toBeLessThanOrEqual(1_000);
    expect(fitted.shown).toBe(shown);
  });

  it('contains no secret, by name or form, or by a name that the user has added', () => {
    const secret = 'viv_0123456789abcdefghijklmnopqrstuv';
    const value = { password: 'sesame', url: 'http://a.test/?api_key=sesame', badge: 'sesame', text: `key ${secret}` };
    const shown = JSON.parse(withoutSecrets(JSON.stringify(value), ['badge'])) as object;
    expect(shown).toEqual({ password: '…', url: 'http://a.test/?api_key=…', badge: '…', text: 'key viv_0123…' });
    expect(withoutSecrets(JSON.stringify(shown), ['badge'])).toBe(JSON.stringify(shown));
  });

  it('names tools in place of the calls in its messages', () => {
    const value = { checks: [{ fix: 'Add it: `records.put {"zone":"a.test"}`.' }], ttl: 1 };
    const rename = (procedure: string, input: object) =>
      procedure === 'records.put' ? `put_record ${JSON.stringify(input)}` : null;
    expect(allInTools(value, rename)).toEqual({ checks: [{ fix: 'Add it: put_record {"zone":"a.test"}.' }], ttl: 1 });
  });
});
