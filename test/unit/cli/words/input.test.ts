import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { flagsOf, listFields } from '../../../../main/cli/words/fields.ts';
import { readArguments } from '../../../../main/cli/words/flags.ts';
import { buildInput } from '../../../../main/cli/words/input.ts';
import { toJsonSchema } from '../../../../main/cli/words/json-schema.ts';
import { findProcedure, type CliProcedure } from '../../../../main/cli/words/procedures.ts';
import type { TargetSetting } from '../../../../main/contract/projects.ts';
import { splitShellLine } from '../../../support/rpc/rpc-shell.ts';

/** The default project is `chosen`. */
const SOURCES = {
  workingDir: '/work',
  readFile: (path: string) => Promise.resolve(`content of ${path}`),
  chooseProject: () => Promise.resolve('chosen'),
  isProject: (word: string) => Promise.resolve(word === 'demo'),
  presentTarget: (project: unknown): Promise<TargetSetting> =>
    Promise.resolve(
      project === 'demo' ? { kind: 'api' } : { kind: 'upstream', url: 'http://localhost:3000', limited: true },
    ),
};

async function inputOf(procedure: CliProcedure, words: string[]): Promise<unknown> {
  const fields = listFields(procedure);
  const read = readArguments(words, flagsOf(fields));
  return (await buildInput(procedure, fields, read, SOURCES)).input;
}

function build(line: string): Promise<unknown> {
  const [namespace = '', name = '', ...words] = splitShellLine(line);
  return inputOf(findProcedure(namespace, name), words);
}

const LOCAL = 'http://localhost:3000';
const upstream = (rest: object = {}) => ({ target: { kind: 'upstream', url: LOCAL, ...rest } });
const limited = (perDay: number) => ({ name: 'a', limits: { perMinute: 5, perDay } });
const REX = { name: 'Rex', categoryId: '1' };

describe('the input from a command line', () => {
  it.each<[string, object]>([
    ['status get', {}],
    ['projects get prj_1', { projectId: 'prj_1' }],
    ['projects get --project-id prj_1', { projectId: 'prj_1' }],
    ['projects create Aquarium --plan pro', { name: 'Aquarium', plan: 'pro' }],
    ["projects create 'My shop'", { name: 'My shop' }],
    ['projects create 5', { name: '5' }],
    ['projects create true', { name: 'true' }],
    ['projects create a --limits.per-minute 5 --limits.per-day 50', limited(50)],
    ['projects create a --limits \'{"perMinute":5,"perDay":50}\'', limited(50)],
    ['projects create a --limits.per-day 60 --limits \'{"perMinute":5,"perDay":50}\'', limited(60)],
    [`projects create a --target.kind upstream --target.url ${LOCAL}`, { name: 'a', ...upstream() }],
    ['projects create a --target 3000 --target.host keep', { name: 'a', ...upstream({ host: 'keep' }) }],
    ['projects update web --target.host keep', { projectId: 'web', ...upstream({ limited: true, host: 'keep' }) }],
    ['projects update --no-target.limited', { projectId: 'chosen', ...upstream({ limited: false }) }],
    [`projects update demo --target.url ${LOCAL}`, { projectId: 'demo', ...upstream() }],
    ['projects update web --target api', { projectId: 'web', target: 'api' }],
    ['projects create a --target 5173', { name: 'a', target: '5173' }],
    ['projects create a --target http://localhost:3000', { name: 'a', target: 'http://localhost:3000' }],
    [`projects create a --target.url ${LOCAL}`, { name: 'a', ...upstream() }],
    ['projects create a --target.kind api', { name: 'a', target: { kind: 'api' } }],
    ['pets list prj_1 --limit 5 --after -3', { projectId: 'prj_1', limit: 5, after: '-3' }],
    ['pets remove --project-id prj_1 --id 9223372036854775807', { projectId: 'prj_1', id: '9223372036854775807' }],
    ['pets remove --project-id prj_1 --id -9223372036854775808', { projectId: 'prj_1', id: '-9223372036854775808' }],
    ['pets import --project-id p --format csv --text-file a', { projectId: 'p', format: 'csv', text: 'content of a' }],
    ["pets import --project-id prj_1 --format json --text '[1]'", { projectId: 'prj_1', format: 'json', text: '[1]' }],
    ['pets list', { projectId: 'chosen' }],
    ['pets list --project demo', { projectId: 'demo' }],
    ['projects get', { projectId: 'chosen' }],
    ['pets create Rex 1', { projectId: 'chosen', ...REX }],
    ['pets create demo Rex 1', { projectId: 'demo', ...REX }],
    ['pets create Rex --category-id 1', { projectId: 'chosen', ...REX }],
    ['pets create demo --category-id 1 --name Rex', { projectId: 'demo', ...REX }],
    ['pets create --project demo --status sold Rex 1', { projectId: 'demo', ...REX, status: 'sold' }],
    ['domains attach shop.acme.test', { projectId: 'chosen', hostname: 'shop.acme.test' }],
    ['domains attach demo shop.acme.test', { projectId: 'demo', hostname: 'shop.acme.test' }],
    ['domains set-primary null', { projectId: 'chosen', hostname: null }],
    ['records put acme.test www A 127.0.0.1', { zone: 'acme.test', name: 'www', type: 'A', value: '127.0.0.1' }],
    ['pets import demo csv --text-file pets.csv', { projectId: 'demo', format: 'csv', text: 'content of pets.csv' }],
    ['zones import acme.test --text-file a.zone', { name: 'acme.test', text: 'content of a.zone' }],
    ['dns query www.acme.test CAA', { name: 'www.acme.test', type: 'CAA' }],
    ['dns query www.acme.test --type CAA', { name: 'www.acme.test', type: 'CAA' }],
    ['keys revoke CI', { keyId: 'CI' }],
    ['keys revoke --key CI', { keyId: 'CI' }],
    ['clock advance PT48H', { by: 'PT48H' }],
    ["settings update --cors '*'", { cors: '*' }],
    ['settings update --cors http://a', { cors: ['http://a'] }],
    ['settings update --cors http://a --cors http://b', { cors: ['http://a', 'http://b'] }],
    ["settings update --cors '[]'", { cors: [] }],
    ['settings update --cors \'["http://a"]\'', { cors: ['http://a'] }],
    ['settings update --ban-after 3', { banAfter: 3 }],
  ])('%s', async (line, input) => {
    expect(await build(line)).toEqual(input);
  });

  it.each([
    ['projects remove', /^PROJECT is missing: `projects\.remove {"projectId":"demo"}`$/],
    ['projects get a b', /^Unexpected argument "b"\. The command takes PROJECT only\.$/],
    ['pets create Rex', /^CATEGORY-ID is missing: `pets\.create {"projectId":"demo","name":"Rex","categoryId":3}`$/],
    ['domains verify', /^HOSTNAME is missing: `domains\.verify {"hostname":"shop\.acme\.test"}`$/],
    ['clock advance', /^DURATION is missing: `clock\.advance {"by":"10m"}`$/],
    ['keys revoke demo Laptop', /^Unexpected argument "Laptop"\. The command takes KEY only\.$/],
    ['pets remove demo 7 x', /^Unexpected argument "x"\. Did you mean --environment x\?$/],
    ['dns query www.acme.test CAA A', /^Unexpected argument "A"\. The command takes NAME TYPE only\.$/],
    ['dns query', /^NAME is missing: /],
    ['projects create Aquarium Y', /^Unexpected argument "Y"\. Did you mean --slug Y\?$/],
    ['keys create demo -- --dashed', /^Unexpected argument "--dashed"\. Did you mean --name=--dashed\?$/],
    [
      'settings update --rate-limit-fields true',
      /^--rate-limit-fields takes no value; to turn it off: --no-rate-limit-f/,
    ],
    ['settings update --no-rate-limit-fields false', /^--rate-limit-fields takes no value/],
    ['status get now', /^Unexpected argument "now"\.$/],
    ['projects get prj_1 --project-id prj_2', /^Unexpected argument "prj_1"\.$/],
    ['projects get --project prj_1 --project-id prj_2', /^--project is given 2 times but takes one value\.$/],
    ['pets list prj_1 --limit many', /^--limit must be a number|^--limit must be an integer/],
    ['pets list prj_1 --limit 1001', /^--limit must be at most 1,000\.$/],
    ['pets list prj_1 --limit 1.5', /^--limit must be an integer\.$/],
    ['pets list prj_1 --status gone', /^--status must be one of "available", "pending", "sold"\.$/],
    ['projects create a --limits.per-minute 0', /limits\.per-minute must be at least 1; --limits\.per-day is required/],
    ["projects create a --limits '{'", /^The value of --limits is not JSON: /],
    ['projects create a --limits 5', /^--limits must be an object\.$/],
    ['projects create a --target.host keep', /^--target\.url is required/],
    ['projects update demo --target.host keep', /^--target\.url is required/],
    ['projects create a --target vite --target.host keep', /^--target must be a URL such as/],
    ['projects create a --target vite', /^--target must be a URL such as "http:\/\/localhost:5173", a host/],
    ['domains set-redirects demo --redirects \'[{"from":"a.test"}]\'', /^--redirects\[0\]\.to is required/],
    ['settings update --cors nonsense', /^--cors must be an origin such as/],
    [
      'pets create demo Rex',
      /^demo is a project; CATEGORY-ID is missing: `pets\.create {"projectId":"demo","name":"Rex","categoryId":3}`$/,
    ],
    [
      'pets create demo',
      /^demo is a project; NAME and CATEGORY-ID are missing: `pets\.create {"projectId":"demo","name":"Otter","categoryId":3}`$/,
    ],
    ['pets create --category-id 1 demo', /^demo is a project; NAME is missing: `pets\.create /],
    ['pets create Rex Bo', /^CATEGORY-ID must be an integer from/],
    ['pets remove demo', /^demo is a project; ID is missing: `pets\.remove {"projectId":"demo","id":7}`$/],
    ['pets remove seven', /^ID must be an integer from/],
    ["projects create ''", /^NAME must have at least one character/],
    ['pets remove --project-id p --id 9223372036854775808', /^ID must be an integer from -9223372036854775808/],
    ['clock advance -10m', /^DURATION is negative, but the clock only advances\. To go back: `clock\.set /],
    ['clock set tomorrow', /^MOMENT must be a moment in ISO 8601/],
  ])('%s is refused with a specific message', async (line, message) => {
    await expect(build(line)).rejects.toThrow(message);
  });
});

describe('kinds of input that the contract may get in future', () => {
  const procedure = (inputType: z.ZodType): CliProcedure => ({
    ...{ namespace: 'n', name: 'p', words: 'n p', deed: {}, summary: '' },
    ...{ inputType, input: toJsonSchema(inputType) },
  });
  const items = z.object({ items: z.array(z.object({ from: z.string() })) });
  const status = z.object({ status: z.union([z.literal(301), z.literal(302)]) });

  it.each<[string, z.ZodType, string[], object]>([
    ['a switch', z.object({ force: z.boolean().default(false) }), ['--force'], { force: true }],
    ['a switch turned off', z.object({ force: z.boolean().default(true) }), ['--no-force'], { force: false }],
    ['a value or null', z.object({ hostname: z.string().nullable() }), ['--hostname', 'null'], { hostname: null }],
    ['a list of objects', items, ['--items', '[{"from":"a"}]'], { items: [{ from: 'a' }] }],
    [
      'objects one by one',
      items,
      ['--items', '{"from":"a"}', '--items', '{"from":"b"}'],
      { items: [{ from: 'a' }, { from: 'b' }] },
    ],
    ['numbers one by one', z.object({ ports: z.array(z.int()) }), ['--ports', '1', '--ports', '2'], { ports: [1, 2] }],
    ['a number of a few', status, ['--status', '301'], { status: 301 }],
  ])('%s', async (_what, type, words, input) => {
    expect(await inputOf(procedure(type), words)).toEqual(input);
  });
});
