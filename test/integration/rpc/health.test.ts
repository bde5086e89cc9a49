import { expect, it, vi } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import { CONTROL_TOKEN, startControl } from '../../support/rpc/rpc-control.ts';
import { requestRaw, statusOf } from '../../support/rpc/rpc-raw.ts';

it('/healthz answers 503 until every listener is ready, and then 200 with nothing but ok', async () => {
  const { server, url } = await startControl();
  const early = await fetch(`${url}/healthz`);
  expect([early.status, await early.json()]).toEqual([503, { code: 'unavailable', message: 'Vivarium is starting.' }]);
  server.ready();
  const late = await fetch(`${url}/healthz`);
  expect([late.status, await late.text(), late.headers.get('cache-control')]).toEqual([200, 'ok\n', 'no-store']);
  const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

it('/healthz accepts GET and HEAD, from its own names and pages only', async () => {
  const { server, port } = await startControl();
  server.ready();
  const own = `Host: 127.0.0.1:${port}`;
  expect(statusOf(await requestRaw(port, 'POST /healthz', [own, 'Content-Length: 0']))).toBe(405);
  expect(statusOf(await requestRaw(port, 'GET /healthz', [`Host: evil.example:${port}`]))).toBe(403);
  expect(statusOf(await requestRaw(port, 'GET /healthz', [own, 'Origin: http://evil.example']))).toBe(403);
});

it('/stop accepts POST with the token, and then requests the stop once', async () => {
  const requestStop = vi.fn();
  const { url } = await startControl({ requestStop });
  const ask = async (method: string, token: string) =>
    (await fetch(`${url}/stop`, { method, headers: { Authorization: `Bearer ${token}` } })).status;
  expect([await ask('GET', CONTROL_TOKEN), await ask('POST', 'wrong')]).toEqual([405, 401]);
  expect(requestStop).not.toHaveBeenCalled();
  expect(await ask('POST', CONTROL_TOKEN)).toBe(202);
  expect(requestStop).toHaveBeenCalledOnce();
});

it('a public file that cannot be read is answered with the reason', async () => {
  const read = () => {
    throw new VivariumError('unavailable', 'Vivarium is stopping; its database is closed.');
  };
  const { url } = await startControl({ openFiles: new Map([['/root.crl', { contentType: 'text/plain', read }]]) });
  const answer = await fetch(`${url}/root.crl`);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'unavailable' }]);
});
