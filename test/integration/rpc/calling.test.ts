import { describe, expect } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import { CONTROL_TOKEN, controlTest as it } from '../../support/rpc/rpc-control.ts';
import { SAMPLE_PET, SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';

describe('a procedure called over HTTP', () => {
  it('answers 200 with the JSON result, and receives the validated input', async ({ fake, post }) => {
    fake.stub('pets', 'create', (input) => ({ ...SAMPLE_PET, name: input.name }));
    const response = await post('pets.create', { projectId: 'prj_1', name: 'Ada', categoryId: 3 });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({ ...SAMPLE_PET, name: 'Ada' });
    expect(fake.calls).toEqual([
      {
        procedure: 'pets.create',
        input: { projectId: 'prj_1', environment: 'production', name: 'Ada', categoryId: '3', status: 'available' },
      },
    ]);
  });

  it('refuses a field that the contract does not have, by its name', async ({ fake, post }) => {
    const response = await post('pets.create', { projectId: 'prj_1', name: 'Ada', categoryId: 3, catgoryId: 4 });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_request', issues: [{ path: 'catgoryId' }] });
    expect(fake.calls).toEqual([]);
  });

  it('treats an empty body as no input, with any media type', async ({ fake, post }) => {
    fake.stub('projects', 'list', () => [SAMPLE_PROJECT]);
    expect(await (await post('projects.list')).json()).toEqual([SAMPLE_PROJECT]);
    const response = await post('projects.list', '', { 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(response.status).toBe(200);
    expect(fake.calls.map(({ input }) => input)).toEqual([undefined, undefined]);
  });

  it('names every invalid place of the input, and the allowed values', async ({ fake, post }) => {
    const response = await post('projects.create', { name: 'a', plan: 'gold', limits: { perMinute: 0, perDay: 5 } });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      code: 'invalid_request',
      message: 'plan must be one of "free", "pro", "business", "enterprise"; limits.perMinute must be at least 1.',
      issues: [
        { path: 'plan', message: 'must be one of "free", "pro", "business", "enterprise"' },
        { path: 'limits.perMinute', message: 'must be at least 1' },
      ],
    });
    expect(fake.calls).toEqual([]);
  });

  it('names what is missing when there is no input', async ({ post }) => {
    expect(await (await post('projects.get')).json()).toEqual({
      code: 'invalid_request',
      message: 'projectId is required: a string.',
      issues: [{ path: 'projectId', message: 'is required: a string' }],
    });
  });

  it('lists the known properties for an unknown one', async ({ post }) => {
    const body = (await (await post('settings.update', { banafter: 3 })).json()) as { message: string };
    expect(body.message).toMatch(/^banafter is not a known property; there are banAfter, banDuration, cors, /);
  });

  it.for([
    ...['9007199254740993', '-9007199254740993', '9007199254740992', '1.5', '"1e3"', '"9223372036854775808"'],
    'null',
  ])('refuses the int64 %s instead of rounding it', async (literal, { fake, post }) => {
    const response = await post('pets.remove', `{"projectId":"p","id":${literal}}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      issues: [{ path: 'id', message: expect.stringContaining('integer') }],
    });
    expect(fake.calls).toEqual([]);
  });

  it.for([
    ['9007199254740991', '9007199254740991'],
    ['-9007199254740991', '-9007199254740991'],
    ['"9223372036854775807"', '9223372036854775807'],
    ['"-9223372036854775808"', '-9223372036854775808'],
  ] as const)('accepts the int64 %s exactly', async ([literal, exact], { fake, post }) => {
    fake.stub('pets', 'remove', (input) => ({ ...SAMPLE_PET, id: input.id }));
    expect(await (await post('pets.remove', `{"projectId":"p","id":${literal}}`)).json()).toMatchObject({ id: exact });
  });

  it('answers with a service’s error unchanged, without further fields', async ({ fake, post }) => {
    fake.stub('projects', 'get', () => {
      throw new VivariumError('not_found', 'There is no project "prj_9".');
    });
    const response = await post('projects.get', { projectId: 'prj_9' });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 'not_found', message: 'There is no project "prj_9".' });
  });

  it('passes on the issues found by a service', async ({ fake, post }) => {
    const issues = [{ path: 'slug', message: 'is taken' }];
    fake.stub('projects', 'create', () =>
      Promise.reject(new VivariumError('conflict', 'The slug is taken.', { issues })),
    );
    const response = await post('projects.create', { name: 'a' });
    expect([response.status, await response.json()]).toEqual([
      409,
      { code: 'conflict', message: 'The slug is taken.', issues },
    ]);
  });

  it('reveals nothing of an unknown error to the caller, and everything to the log', async ({ fake, post, lines }) => {
    const cause = new Error('disk full');
    fake.stub('projects', 'list', () => {
      throw new Error('no such table: secrets', { cause });
    });
    const response = await post('projects.list');
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toEqual({ code: 'internal_error', message: 'Vivarium failed; its log has the reason.' });
    const errors = lines.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.fields).toMatchObject({ procedure: 'projects.list', cause });
    const error = errors[0]?.fields['error'] as Error | undefined;
    expect(error?.stack).toContain('no such table: secrets');
  });

  it('treats an output that breaks the contract as its own failure', async ({ fake, post, lines }) => {
    fake.stub('projects', 'get', () => ({ ...SAMPLE_PROJECT, plan: 'gold' }) as unknown as typeof SAMPLE_PROJECT);
    const response = await post('projects.get', { projectId: 'p' });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, 'internal_error']);
    expect(lines.find(({ level }) => level === 'error')?.fields['issues']).toMatchObject([{ path: ['plan'] }]);
  });

  it('notifies its service when the caller disconnects', async ({ fake, url }) => {
    const started = Promise.withResolvers<AbortSignal>();
    const finished = Promise.withResolvers<undefined>();
    fake.stub('pets', 'seed', async (_input, { signal }) => {
      if (signal === undefined) throw new Error('There is no signal.');
      started.resolve(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      finished.resolve(undefined);
      throw signal.reason;
    });
    const caller = new AbortController();
    const call = fetch(`${url}/api/pets/seed`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${CONTROL_TOKEN}` },
      body: JSON.stringify({ projectId: 'p', count: 1 }),
      signal: caller.signal,
    });
    await started.promise;
    caller.abort();
    await expect(call).rejects.toThrow();
    await finished.promise;
  });
});

describe('a path under /api that is not a call', () => {
  it.for([
    ['/api/pets/lst', 'Did you mean "pets.list" or "pets.get"?'],
    ['/api/project/get', 'Did you mean "projects.get"?'],
    ['/api/pets', 'There is no procedure "pets".'],
    ['/api/', 'There is no procedure ""'],
    ['/api/pets/list/more', 'There is no procedure "pets.list.more"'],
    ['/api/constructor/call', 'There is no procedure'],
    ['/api/__proto__/toString', 'There is no procedure'],
    ['/api/pets/constructor', 'There is no procedure'],
  ] as const)('%s is answered 404 and names the nearest ones', async ([path, hint], { url }) => {
    const response = await fetch(url + path, { method: 'POST', headers: { Authorization: `Bearer ${CONTROL_TOKEN}` } });
    const body = (await response.json()) as { code: string; message: string };
    expect([response.status, body.code]).toEqual([404, 'not_found']);
    expect(body.message).toContain(hint);
  });

  it.for(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    '%s on a procedure is answered 405 with Allow',
    async (method, { url }) => {
      const response = await fetch(`${url}/api/pets/list`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    },
  );
});

describe('without the right token', () => {
  it.for([
    ['no token', {}],
    ['a wrong token', { Authorization: 'Bearer wrong' }],
    ['part of the token', { Authorization: `Bearer ${CONTROL_TOKEN.slice(0, -1)}` }],
    ['more than the token', { Authorization: `Bearer ${CONTROL_TOKEN}x` }],
    ['another scheme', { Authorization: `Basic ${CONTROL_TOKEN}` }],
    ['the token in a cookie', { Cookie: `token=${CONTROL_TOKEN}` }],
  ] as const)('(%s) a call is answered 401 and reaches no service', async ([_what, headers], { url, fake }) => {
    const response = await fetch(`${url}/api/projects/list?token=${CONTROL_TOKEN}`, {
      method: 'POST',
      headers: headers as Record<string, string>,
    });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await response.json()).toEqual({ code: 'unauthorized', message: expect.stringContaining('runtime.json') });
    expect(fake.calls).toEqual([]);
  });
});
