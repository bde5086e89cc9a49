import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../../main/contract/errors.ts';
import { contract } from '../../../main/contract/index.ts';
import { startControl } from '../../support/rpc/rpc-control.ts';
import { SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';

interface Media {
  content: Record<string, { schema: object }>;
}
interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  requestBody?: Media & { required: boolean };
  responses: Record<string, Media & { description: string }>;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  security: object[];
  components: { securitySchemes: Record<string, object> };
  paths: Record<string, { post: Operation }>;
}

async function readDocument(): Promise<Document> {
  const { url } = await startControl();
  const response = await fetch(`${url}/api/openapi.json`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  return (await response.json()) as Document;
}

const it = test.extend('document', () => readDocument());

const ajv = () => {
  const validator = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true });
  // ajv-formats is CommonJS, whose default export is the module itself.
  (addFormats as unknown as (validator: Ajv2020) => void)(validator);
  validator.addFormat('int64', true);
  return validator;
};

describe('the OpenAPI document of the contract', () => {
  it('has every procedure, with its path, and nothing else', async () => {
    const { openapi, info, servers, paths, security, components } = await readDocument();
    const names = Object.entries(contract).flatMap(([namespace, procedures]) =>
      Object.keys(procedures).map((name) => `/${namespace}/${name}`),
    );
    expect(openapi).toMatch(/^3\.1\./);
    expect(info).toMatchObject({ title: 'Vivarium control', version: '1.2.3' });
    expect(servers).toEqual([{ url: '/api' }]);
    expect(Object.keys(paths).sort()).toEqual(names.sort());
    expect(components.securitySchemes).toEqual({
      [Object.keys(security[0] ?? {})[0] ?? '']: { type: 'http', scheme: 'bearer' },
    });
    for (const [path, item] of Object.entries(paths)) {
      expect(Object.keys(item)).toEqual(['post']);
      expect(item.post.operationId).toBe(path.slice(1).replace('/', '.'));
      expect(item.post.tags).toEqual([path.split('/')[1]]);
      expect(item.post.summary).not.toBe('');
    }
  });

  it('consists of schemas that a strict validator compiles', async ({ document: { paths } }) => {
    const media = Object.values(paths).flatMap(({ post: { requestBody = [], responses } }) =>
      [requestBody, Object.values(responses)].flat(),
    );
    const schemas = media.flatMap(({ content }) => Object.values(content).map(({ schema }) => JSON.stringify(schema)));
    const validator = ajv();
    // Most refusals are the same for every procedure.
    for (const schema of new Set(schemas)) expect(() => validator.compile(JSON.parse(schema) as object)).not.toThrow();
  });

  it('describes inputs, results and errors exactly', async ({ document: { paths } }) => {
    const validator = ajv();
    const operation = paths['/projects/create']?.post;
    const schemaOf = (media: Media | undefined) => media?.content['application/json']?.schema ?? {};
    const input = validator.compile(schemaOf(operation?.requestBody));
    expect(input({ name: 'Aquarium', target: { kind: 'upstream', url: 'http://localhost:3000' } })).toBe(true);
    expect(input({ name: 'Aquarium', plan: 'gold' })).toBe(false);
    expect(input({})).toBe(false);
    expect(validator.validate(schemaOf(operation?.responses['200']), SAMPLE_PROJECT)).toBe(true);
    const { post } = await startControl();
    const failure: unknown = await (await post('projects.create', {})).json();
    expect(validator.validate(schemaOf(operation?.responses['400']), failure)).toBe(true);
    const statuses = Object.keys(operation?.responses ?? {}).map(Number);
    const known = Object.values(ERROR_CATALOGUE).map(({ status }) => status as number);
    expect(statuses.filter((status) => status !== 200 && !known.includes(status))).toEqual([]);
  });

  it('requires a body only if an input is required', async ({ document: { paths } }) => {
    expect(paths['/projects/list']?.post.requestBody?.required ?? false).toBe(false);
    expect(paths['/projects/get']?.post.requestBody?.required).toBe(true);
  });

  it('describes watching as a stream of events', async ({ document: { paths } }) => {
    expect(Object.keys(paths['/events/watch']?.post.responses['200']?.content ?? {})).toEqual(['text/event-stream']);
  });

  it('can only be read with GET', async () => {
    const { url } = await startControl();
    const response = await fetch(`${url}/api/openapi.json`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
