import { describe, expect } from 'vitest';
import { emptyTest, demoTest as it } from '../../support/engine-test.ts';
import { readHttpFile } from '../../../main/contract/http-file.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { HISTORY_BODY_MAX, HISTORY_MAX } from '../../../main/services/projects/api.ts';
import { startEngine } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TEXT = '@limit = 5\n\n# mine\n### First\nGET {{baseUrl}}/pets?limit={{limit}}\nAuthorization: Bearer {{key}}\n';

describe('saved requests', () => {
  it('are kept unchanged across a restart, and removed with their project', async () => {
    const dataDir = temporaryFolder();
    const first = await startEngine({ dataDir });
    const { id: projectId } = await first.demo();
    expect(await first.call('requests.get', { projectId: 'demo' })).toEqual({ saved: '', history: '' });
    expect(await first.call('requests.save', { projectId, text: TEXT })).toEqual({ saved: TEXT });
    await first.stop();
    const second = await startEngine({ dataDir });
    expect(await second.call('requests.get', { projectId })).toEqual({ saved: TEXT, history: '' });
    await second.call('projects.remove', { projectId });
    await expect(second.call('requests.get', { projectId })).rejects.toMatchObject({ code: 'not_found' });
  });

  emptyTest('are part of an export, which creates them elsewhere', async ({ call }) => {
    await call('projects.create', { name: 'Shop' });
    await call('requests.save', { projectId: 'shop', text: TEXT });
    const { text } = await call('world.export');
    const other = await startEngine({ empty: true });
    const { changes } = await other.call('world.apply', { text });
    expect(changes).toContainEqual({ kind: 'requests', what: 'shop', after: TEXT });
    expect(await other.call('requests.get', { projectId: 'shop' })).toMatchObject({ saved: TEXT });
    expect(await other.call('world.diff', { text })).toMatchObject({ changes: [] });
  });

  it('never contain the secret of a key', async ({ call, projectId }) => {
    const text = `${TEXT}### Second\nGET /\nAuthorization: Bearer viv_${'a'.repeat(32)}\n`;
    await expect(call('requests.save', { projectId, text })).rejects.toMatchObject({
      issues: [{ path: 'text', message: expect.stringContaining('in line 9; write {{key}} in its place') }],
    });
    expect(await call('requests.get', { projectId })).toMatchObject({ saved: '' });
  });

  it('have a history of sent requests, newest first, without secrets and long bodies', async ({ engine, call }) => {
    const { id: projectId } = (await engine.demo()) as Project;
    const [key] = await call('keys.list', { projectId });
    const send = (input: object) => call('api.send', { projectId, path: '/pets', ...input });
    await send({
      keyId: key?.id,
      headers: { Cookie: 'session=verysecretvalue', 'X-Page': '1' },
      path: '/pets?limit=1',
    });
    await send({ method: 'POST', body: '{"name":"Otter","password":"hunter2"}'.padEnd(HISTORY_BODY_MAX) });
    await send({ method: 'POST', body: 'x'.repeat(HISTORY_BODY_MAX + 1) });
    const read = async () => readHttpFile((await call('requests.get', { projectId })).history).requests;
    const [long, second, first] = await read();
    expect(long).toMatchObject({ method: 'POST', target: '{{baseUrl}}/pets' });
    expect(long?.body).toBeUndefined();
    expect(second?.body).toContain('"Otter"');
    expect(second?.body).not.toContain('hunter2');
    expect(first).toMatchObject({
      name: expect.stringMatching(/^\d{4}-.*Z$/),
      target: '{{baseUrl}}/pets?limit=1',
      headers: [
        { name: 'Authorization', value: 'Bearer {{key}}' },
        { name: 'Cookie', value: expect.not.stringContaining('verysecretvalue') as string },
        { name: 'X-Page', value: '1' },
      ],
    });
    for (let count = 0; count < HISTORY_MAX; count++) await send({ path: `/pets/${count}` });
    const kept = await read();
    expect([kept.length, kept[0]?.target]).toEqual([HISTORY_MAX, `{{baseUrl}}/pets/${HISTORY_MAX - 1}`]);
    await call('requests.forget', { projectId });
    expect(await read()).toEqual([]);
  });
});
