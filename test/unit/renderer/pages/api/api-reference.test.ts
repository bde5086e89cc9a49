// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { openApiText } from '../../../../../main/api/openapi.ts';
import { OPERATIONS } from '../../../../../main/api/operations.ts';
import type { ApiKey } from '../../../../../main/contract/callers.ts';
import { operationsOf } from '../../../../../renderer/pages/api/api-document.ts';
import { ApiReference } from '../../../../../renderer/pages/api/api-reference.svelte.ts';
import type { Trial } from '../../../../../renderer/pages/api/trial/api-trial.svelte.ts';
import { collectHeaders, fillPath, writeBody } from '../../../../../renderer/pages/api/trial/trial-request.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { makeKey } from '../../../../support/page/page-world.ts';

const BASE_URL = 'http://demo.vivarium.localhost:8080/v1';
const SERVERS = [{ url: BASE_URL, description: 'production' as const }];
const TEXT = openApiText(Object.values(OPERATIONS), SERVERS);
const JSON_TYPE = 'application/json';

async function setUp(
  keys: ApiKey[] = [makeKey('key_new', 'New'), makeKey('key_old', 'Old')],
  text: string | null = TEXT,
) {
  const parts = pageParts({
    'api.describe': () => ({ baseUrl: BASE_URL, document: text }),
    'keys.list': () => keys,
    'api.send': (input) => ({ request: input, response: {} }),
  });
  const project = { id: 'prj_demo' };
  const reference = new ApiReference({ ...parts.source, project, environment: 'production' });
  await settle();
  const trial = (id: string): Trial => {
    const document = reference.description.value?.document;
    const operation = document && operationsOf(document).find((candidate) => candidate.id === id);
    return reference.trialOf(operation);
  };
  return { ...parts, reference, trial, sent: () => parts.asked('api.send').at(-1) };
}

describe('an operation that is tried', () => {
  it('is sent with the oldest active key until another is chosen', async () => {
    const { reference, trial, sent } = await setUp();
    const list = trial('listPets');
    list.typed['query limit'] = '5';
    await list.send();
    expect(sent()).toEqual({
      projectId: 'prj_demo',
      environment: 'production',
      method: 'GET',
      path: '/pets?limit=5',
      headers: {},
      keyId: 'key_old',
    });
    reference.credential = { kind: 'none' };
    await list.send();
    expect(sent()).not.toHaveProperty('keyId');
    reference.credential = { kind: 'secret' };
    reference.secret = ' viv_pasted ';
    await list.send();
    expect(sent()).toMatchObject({ secret: 'viv_pasted' });
  });

  it('continues with another key when the chosen one is revoked, and without one if none remains', async () => {
    const { reference } = await setUp([makeKey('key_a', 'A', { revokedAt: '2026-11-20T10:00:00.000Z' })]);
    reference.credential = { kind: 'key', keyId: 'key_a' };
    expect(reference.credential).toEqual({ kind: 'none' });
  });

  it('begins with the example, and sends an int64 as it is typed', async () => {
    const { trial, sent } = await setUp();
    const create = trial('createPet');
    expect(create.fields).toEqual({ name: 'Biscuit', categoryId: '1', status: 'available' });
    create.fields = { name: 'Rex', categoryId: '9223372036854775807', status: '' };
    await create.send();
    expect(sent()).toMatchObject({
      method: 'POST',
      path: '/pets',
      headers: { 'Content-Type': JSON_TYPE },
      body: '{\n  "name": "Rex",\n  "categoryId": 9223372036854775807\n}',
    });
  });

  it('can be typed as text, which begins with what was typed into fields', async () => {
    const { trial, sent } = await setUp();
    const create = trial('createPet');
    create.fields['name'] = 'Ada';
    create.bodyForm = 'text';
    expect(create.form.values.body).toContain('"name": "Ada"');
    create.form.values.body = '{"name": ';
    await create.send();
    expect(sent()).toMatchObject({ body: '{"name": ' });
    create.form.values.body = '';
    await create.send();
    expect(sent()).not.toHaveProperty('body');
    expect(sent()).toMatchObject({ headers: {} });
  });

  it('leads to the next page that a response links to, until one links to none', async () => {
    const { answers, trial, sent } = await setUp();
    const url = `${BASE_URL}/pets?limit=2`;
    const value = '<https://a.test/old>; rel="deprecation", </v1/pets?limit=2&after=7>; rel="next"';
    let links = [{ name: 'Link', value }];
    answers['api.send'] = () => ({ request: { url }, response: { headers: links } });
    const list = trial('listPets');
    list.typed['query limit'] = '2';
    await list.send();
    list.turnTo(list.next);
    links = [];
    await list.send();
    expect(sent()).toMatchObject({ path: '/pets?limit=2&after=7' });
    expect(list.next).toBeUndefined();
  });

  it('keeps what was typed while others are shown', async () => {
    const { trial } = await setUp();
    trial('getPet').typed['path petId'] = '7';
    expect(trial('listPets')).not.toBe(trial('getPet'));
    expect(trial('getPet').typed['path petId']).toBe('7');
  });

  it('shows the engine’s message at its field, and no exchange', async () => {
    const { answers, trial } = await setUp();
    answers['api.send'] = refuses('invalid_request', '', { path: 'headers', message: '"a b" is not a header name' });
    const list = trial('listPets');
    await list.send();
    expect(list.form.fault('headers')).toBe('“a b” is not a header name');
    expect(list.exchange).toBeUndefined();
  });

  it('can be a custom request', async () => {
    const { trial, sent } = await setUp(undefined, null);
    const own = trial('');
    const headers = 'X-A: 1\nX-A: 2\n\nX-B:  b: c ';
    own.form.values = { ...own.form.values, method: 'DELETE', path: '/pets/7', headers };
    await own.send();
    expect(sent()).toMatchObject({ method: 'DELETE', path: '/pets/7', headers: { 'X-A': '2', 'X-B': 'b: c' } });
  });

  it('that was saved is sent with a key only if it had one', async () => {
    const { reference } = await setUp();
    const saved = { from: 0, to: 0, name: '', method: 'GET', target: `${BASE_URL}/pets`, body: undefined, checks: [] };
    reference.open({ ...saved, headers: [{ name: 'authorization', value: 'Bearer x' }] });
    expect(reference.credential).toEqual({ kind: 'key', keyId: 'key_old' });
    reference.open({ ...saved, headers: [] });
    expect(reference.credential).toEqual({ kind: 'none' });
  });
});

describe('a description', () => {
  it('is read again when the environment or the project changes', async () => {
    const { time, tell, asked, reference } = await setUp();
    await time.pass(1_000);
    reference.environment = 'staging';
    await settle();
    expect(asked('api.describe').at(-1)).toEqual({ projectId: 'prj_demo', environment: 'staging' });
    expect(reference.description.value?.environment).toBe('staging');
    await tell('projects.changed', { projectId: 'prj_other' });
    await tell('projects.changed', { projectId: 'prj_demo' });
    expect(asked('api.describe')).toHaveLength(3);
  });

  it.each([null, '{}', '<html>'])('may be missing: %j', async (text) => {
    const { reference } = await setUp([], text);
    expect(reference.description.value).toEqual({ environment: 'production', baseUrl: BASE_URL, document: undefined });
  });
});

const schemaOf = (type: string) => ({
  name: undefined,
  type,
  format: undefined,
  description: undefined,
  constraints: [],
  choices: [],
  default: undefined,
  properties: [],
  items: undefined,
});

describe('a path', () => {
  const common = { required: true, description: undefined, schema: schemaOf('string') };

  it.each([
    [{ 'path id': '7', 'query q': '' }, '/a/7/b'],
    [{ 'path id': ' -9223372036854775808 ' }, '/a/-9223372036854775808/b'],
    [{ 'path id': '../x y', 'query q': 'a&b=c' }, '/a/..%2Fx%20y/b?q=a%26b%3Dc'],
    [{ 'path id': '' }, '/a//b'],
  ])('with %j is %s', (typed, path) => {
    const parameters = [
      { in: 'path' as const, name: 'id', ...common },
      { in: 'query' as const, name: 'q', ...common },
    ];
    expect(fillPath('/a/{id}/b', parameters, typed)).toBe(path);
  });
});

it('headers that are typed override those of the body and the operation, in any case', () => {
  const headers = 'content-type: text/plain\nbroken';
  const collected = collectHeaders([], { parameters: {}, body: '{}', mediaType: JSON_TYPE, headers });
  expect(collected).toEqual({ 'content-type': 'text/plain', broken: '' });
});

describe('a body', () => {
  const property = (name: string, type: string) => ({ name, required: true, schema: schemaOf(type) });

  it.each([
    ['integer', '007', '"007"'],
    ['integer', '9007199254740993', '9007199254740993'],
    ['integer', '1.0', '1.0'],
    ['integer', 'many', '"many"'],
    ['integer or null', 'null', 'null'],
    ['string', 'null', '"null"'],
    ['string', '7', '"7"'],
    ['string or null', 'null', 'null'],
    ['boolean', 'true', 'true'],
    ['array of integer', '[1, 9007199254740993]', '[1, 9007199254740993]'],
    ['object', '{"a": ', '"{\\"a\\": "'],
  ])('of the type %s with %j typed has %s', (type, text, member) => {
    expect(writeBody([property('x', type)], { x: text })).toBe(`{\n  "x": ${member}\n}`);
  });

  it('omits empty fields', () => {
    expect(writeBody([property('x', 'string')], { x: '' })).toBe('{}');
  });
});
