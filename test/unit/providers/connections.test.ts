import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONNECTIONS_MAX } from '../../../main/contract/providers.ts';
import { createProviderConnections, createProviderToken } from '../../../main/providers/connections.ts';
import {
  dropCredentials,
  proxyCredentials,
  readCredentials,
  tokenOfProxy,
} from '../../../main/providers/credentials.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const OWN = createProviderToken();
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const FIELDS = ['authorization', 'x-auth-key'];

/** What a request's credentials are, and what is left of its header fields. */
function take(...fields: string[]) {
  const rawHeaders = [...fields];
  const headers: Record<string, string> = {};
  for (let index = 0; index < fields.length; index += 2)
    headers[fields[index]?.toLowerCase() ?? ''] = fields[index + 1] ?? '';
  const request = { headers, rawHeaders, url: headers[':path'] ?? '/' };
  dropCredentials(request);
  const { kind } = readCredentials(rawHeaders, FIELDS);
  return { kind, left: JSON.stringify(request) };
}

describe('credentials', () => {
  it('of our own form have 40 characters of the alphabet that clients check', () => {
    expect(OWN).toMatch(/^[A-Za-z0-9_-]{40}$/);
  });

  it.each<[what: string, fields: string[], kind: string]>([
    ['our token', ['Authorization', `Bearer ${OWN}`], 'token'],
    ['our token in lower case', ['authorization', `bearer  ${OWN} `], 'token'],
    ['none', ['Accept', '*/*'], 'missing'],
    ['a session', ['Cookie', 'authorization=SECRET'], 'missing'],
    ['a token of the provider', ['Authorization', 'Bearer SECRET0123456789SECRET012'], 'foreign'],
    ['one with its prefix', ['Authorization', 'Bearer vcp_SECRET0123456789'], 'foreign'],
    ['one of 40 characters', ['Authorization', `Bearer SECRET${'a'.repeat(34)}`], 'foreign'],
    ['an API key of a project', ['Authorization', `Bearer viv_SECRET${'a'.repeat(26)}`], 'foreign'],
    ['a password', ['Authorization', 'Basic SECRET'], 'foreign'],
    ['an empty one', ['Authorization', ''], 'foreign'],
    ['a key in another field', ['X-Auth-Key', 'SECRET'], 'foreign'],
    ['ours beside another', ['Authorization', `Bearer ${OWN}`, 'X-Auth-Key', 'SECRET'], 'foreign'],
    ['two', ['Authorization', 'Bearer SECRET', 'authorization', `Bearer ${OWN}`], 'foreign'],
    ['one for another provider', ['Circle-Token', 'SECRET'], 'missing'],
    ['one for a proxy', ['Proxy-Authorization', 'Basic SECRET'], 'missing'],
    ['one in a field of a client', ['X-Stainless-Token', 'SECRET'], 'missing'],
    ['one in a field of its own', ['X-Whatever', 'SECRET0123456789'], 'missing'],
    [
      'one in the query',
      [':path', '/v5/domains?limit=1&access_token=SECRET&%74oken=SECRET;key=SECRET&code=SECRET#key=SECRET'],
      'missing',
    ],
    [
      'one with the beginning of its kind, in a path, a query and a field that is kept',
      [
        ...[
          ':path',
          '/v1/cfut_SECRET0123456789abc/x?q=nfp_SECRET0123456789abc&rnd_SECRET0123456789abc&t=FlyV1%20fm2_SECRET0123456789',
        ],
        ...['User-Agent', 'tool/1 FlyV1 fm2_SECRET%2F0123456789+/=,fm2_SECRET0123456789abcd'],
        ...['If-None-Match', `"v1.0-${'0a'.repeat(12)}-${'SECRET0'.repeat(20)}"`],
      ],
      'missing',
    ],
    ['a user in the host', ['Host', 'u:SECRET@api.vercel.com', ':authority', 'u:SECRET@api.vercel.com'], 'missing'],
    ['a user in the target', [':path', 'https://SECRET:SECRET@api.vercel.com/v5/domains'], 'missing'],
  ])('%s', (_what, fields, kind) => {
    const taken = take(...fields);
    expect(taken.kind).toBe(kind);
    expect(taken.left).not.toContain('SECRET');
  });

  it('leave a request as it is otherwise', () => {
    const fields = ['Accept', 'application/json, text/plain', 'X-Case', '7', 'X-Stainless-Runtime-Version', 'v24.11.1'];
    const target = [':path', `/v5/domains?teamId=team_0123456789abcdef01234567&token=${OWN}`];
    expect(JSON.parse(take(...fields, ...target).left)).toMatchObject({
      rawHeaders: [...fields, ...target],
      url: target[1],
    });
  });

  it('of a proxy are a token only for the user of providers', () => {
    expect(tokenOfProxy(basic(proxyCredentials(OWN)))).toBe(OWN);
    for (const other of [undefined, '', 'Basic', basic('vivarium:x'), basic('provider'), `Bearer ${OWN}`])
      expect(tokenOfProxy(other)).toBeNull();
  });
});

describe('connections', () => {
  const open = (file = join(temporaryFolder(), 'connections.json')) => ({
    file,
    connections: createProviderConnections({ file, realNow: () => 1_000 }),
  });
  const input = { provider: 'vercel', projectIds: ['prj_1'], pid: null } as const;

  it('are found by their token, also after a restart, and their file has only its hash', () => {
    const { file, connections } = open();
    const { connection, token } = connections.open({ ...input, projectIds: ['prj_1'] });
    expect(connections.of(token)).toEqual(connection);
    expect(readFileSync(file, 'utf8')).not.toContain(token);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(open(file).connections.of(token)).toEqual(connection);
    const proxied = (address: string) => connections.ofProxy(basic(proxyCredentials(token)), address);
    expect(['127.0.0.2', '::1', '192.168.0.2'].map(proxied)).toEqual([connection, connection, 'refused']);
    connections.close(connection.id);
    expect(connections.of(token)).toBeNull();
    expect(open(file).connections.list()).toEqual([]);
  });

  it('of a run are in no file', () => {
    const { file, connections } = open();
    connections.open({ ...input, projectIds: ['prj_1'], pid: 4711 });
    expect(open(file).connections.list()).toEqual([]);
  });

  it('are bounded', () => {
    const { connections } = open();
    for (let count = 0; count < CONNECTIONS_MAX; count++) connections.open({ ...input, projectIds: ['p'], pid: 1 });
    expect(() => connections.open({ ...input, projectIds: ['p'] })).toThrow(/64 connections/);
  });
});
