import { join } from 'node:path';
import { methods } from '@netlify/api';
import { describe, expect, it } from 'vitest';
import type { ProviderId } from '../../../main/contract/provider-table.ts';
import { EMULATED } from '../../../main/providers/emulated.ts';
import { createOperations } from '../../../main/providers/operations.ts';
import { readCloudflareOperations, readVercelOperations } from '../../support/providers/specifications.ts';

const find = createOperations(EMULATED.vercel);
const found = (method: string, path: string): string => {
  const result = find(method, path);
  return result.kind === 'other' ? `not ${result.name}` : `${result.operation.name} ${JSON.stringify(result.params)}`;
};

describe('an operation', () => {
  it.each<[what: string, method: string, path: string, expected: string]>([
    ['by its path', 'GET', '/v5/domains', 'getDomains {}'],
    ['of another version', 'POST', '/v9/projects/shop/domains', 'addProjectDomain {"idOrName":"shop"}'],
    ['with a slash at the end', 'GET', '/v5/domains/', 'getDomains {}'],
    ['for HEAD, as for GET', 'HEAD', '/v5/domains', 'getDomains {}'],
    [
      'with encoded parameters',
      'GET',
      '/v9/projects/my%20shop/domains/%2A.acme.test',
      'getProjectDomain {"idOrName":"my shop","domain":"*.acme.test"}',
    ],
    ['before one with more parameters', 'PATCH', '/v1/domains/records/rec_1', 'updateRecord {"recordId":"rec_1"}'],
    ['that is counted and not made', 'PUT', '/v8/certs', 'not uploadCert'],
    ['of a method that the path does not have', 'PUT', '/v5/domains', 'not PUT /v5/domains'],
    ['of no specification', 'GET', '/v1/nothing', 'not GET /v1/nothing'],
    ['with a malformed parameter', 'GET', '/v5/domains/%E0%A4', 'not GET /v5/domains/%E0%A4'],
    ['without a version', 'GET', '/domains', 'not GET /domains'],
    ['below a prefix', 'GET', '/x/v5/domains', 'not GET /x/v5/domains'],
  ])('%s', (_what, method, path, expected) => {
    expect(found(method, path)).toBe(expected);
  });

  it('of a path without end has a name that is cut', () => {
    expect(found('GET', `/${'a'.repeat(10_000)}`).length).toBeLessThan(600);
  });
});

/** Operations of resources of which Vivarium has these only, and those in no specification. */
const OF_OTHERS = / (?:accounts|user|command)\./;

const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules');

it.each<[provider: ProviderId, official: readonly string[]]>([
  ['vercel', readVercelOperations(join(MODULES, '@vercel', 'sdk'))],
  ['cloudflare', readCloudflareOperations(join(MODULES, 'cloudflare'))],
  ['netlify', methods.map(({ verb, path, operationId }) => `${verb.toUpperCase()} /api/v1${path} ${operationId}`)],
])('%s has its operations as the official client has them', (provider, official) => {
  const own = EMULATED[provider].operations.map(({ method, path, name }) => `${method} ${path} ${name}`);
  expect(own.filter((each) => !OF_OTHERS.test(each) && !official.includes(each))).toEqual([]);
});
