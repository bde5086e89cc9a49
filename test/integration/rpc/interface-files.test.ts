import { describe, expect, it } from 'vitest';
import { buildInterface, INTERFACE_PAGE as PAGE } from '../../support/rpc/rpc-interface.ts';
import { startControl } from '../../support/rpc/rpc-control.ts';
import { bodyOf, requestRaw, statusOf } from '../../support/rpc/rpc-raw.ts';

describe('the files of the interface', () => {
  it.each([
    ['/', PAGE, 'text/html; charset=utf-8', 'no-cache'],
    ['/index.html', PAGE, 'text/html; charset=utf-8', 'no-cache'],
    ['/projects/prj_1', PAGE, 'text/html; charset=utf-8', 'no-cache'],
    ['/domains?filter=a.b', PAGE, 'text/html; charset=utf-8', 'no-cache'],
    ['/icon.svg', '<svg/>', 'image/svg+xml', 'no-cache'],
    [
      '/assets/index-B4x_9kQz.js',
      'export {};',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
  ])('%s is served with its media type and cache policy', async (path, body, type, caching) => {
    const { url } = await startControl({ assetsDir: buildInterface() });
    const response = await fetch(url + path);
    expect([response.status, await response.text()]).toEqual([200, body]);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('cache-control')).toBe(caching);
  });

  it('are sent with a policy that admits only these files', async () => {
    const { url, port } = await startControl({ assetsDir: buildInterface() });
    const { headers } = await fetch(`${url}/`);
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'self'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        `connect-src 'self' ws://127.0.0.1:${port}`,
      ]),
    );
    expect(policy?.filter((rule) => rule.includes('unsafe'))).toEqual(["style-src-attr 'unsafe-inline'"]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('are not sent again to a client that has them', async () => {
    const { url } = await startControl({ assetsDir: buildInterface() });
    const etag = (await fetch(`${url}/icon.svg`)).headers.get('etag') ?? '';
    const again = await fetch(`${url}/icon.svg`, { headers: { 'If-None-Match': `"other", ${etag}` } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await fetch(`${url}/icon.svg`, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  it('answer HEAD with everything except the content', async () => {
    const { url } = await startControl({ assetsDir: buildInterface() });
    const response = await fetch(`${url}/icon.svg`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '6', '']);
  });

  it('are read only', async () => {
    const { url } = await startControl({ assetsDir: buildInterface() });
    const response = await fetch(`${url}/icon.svg`, { method: 'PUT', body: 'x' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['/assets', '/%252e%252e/secret.json', '/icon.svg/x.js'])(
    '%s is a view with a title of its own',
    async (path) => {
      const { port } = await startControl({ assetsDir: buildInterface() });
      const answer = await requestRaw(port, `GET ${path}`, [`Host: 127.0.0.1:${port}`]);
      expect(bodyOf(answer)).toBe(PAGE);
    },
  );

  it.each([
    '/../secret.json',
    '/assets/../../secret.json',
    '/%2e%2e/secret.json',
    '/%2e%2e%2fsecret.json',
    '/assets/%2e%2e/%2e%2e/secret.json',
    '/..%5csecret.json',
    '/..%00/secret.json',
    '//../secret.json',
    '/./../secret.json',
    '/link.json',
    '/.env.json',
    '/%2eenv.json',
    '/missing.js',
    '/assets/x.js/y.js',
    `/${'x'.repeat(5_000)}.js`,
  ])('%s is answered 404', async (path) => {
    const { port } = await startControl({ assetsDir: buildInterface() });
    const answer = await requestRaw(port, `GET ${path}`, [`Host: 127.0.0.1:${port}`]);
    expect([400, 404]).toContain(statusOf(answer));
    expect(answer).not.toContain('secret"');
  });
});

describe('an interface that is not built', () => {
  it.each([null, '/nonexistent/renderer'])('(folder %j) is answered with how to build it', async (assetsDir) => {
    const { url } = await startControl({ assetsDir });
    const response = await fetch(`${url}/projects`);
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain('npm run build');
    expect((await fetch(`${url}/app.js`)).status).toBe(404);
  });
});
