import { describe, expect, it } from 'vitest';
import { createPageFiles } from '../../../main/electron/rules.ts';
import { buildInterface, INTERFACE_PAGE as PAGE } from '../../support/rpc/rpc-interface.ts';

function serve() {
  const answer = createPageFiles(buildInterface());
  return (url: string, method = 'GET') => answer(new Request(url, { method }));
}

describe('app://vivarium', () => {
  it.each([
    ['app://vivarium/', 200, PAGE, 'text/html; charset=utf-8'],
    ['app://vivarium/%252e%252e/secret.json', 200, PAGE, 'text/html; charset=utf-8'],
    ['app://vivarium/projects/prj_1/domains?x=1#y', 200, PAGE, 'text/html; charset=utf-8'],
    ['app://vivarium/assets/index-B4x_9kQz.js', 200, 'export {};', 'text/javascript; charset=utf-8'],
  ])('%s belongs to the page', async (url, status, body, type) => {
    const response = await serve()(url);
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
      status,
      body,
      type,
    ]);
  });

  it.each([
    'app://vivarium/../secret.json',
    'app://vivarium/%2e%2e/secret.json',
    'app://vivarium/%2e%2e%2fsecret.json',
    'app://vivarium/assets/..%2f..%2fsecret.json',
    'app://vivarium/..%5csecret.json',
    'app://vivarium/..\\secret.json',
    'app://vivarium/..%00/secret.json',
    'app://vivarium/assets/%252e%252e/secret.json',
    'app://vivarium//hosts.txt',
    'app://vivarium/link.json',
    'app://vivarium/.env.json',
    'app://vivarium/missing.js',
    'app://vivarium/%ff.js',
    'app://elsewhere/',
    'app://vivarium:1/',
    'file:///etc/hosts',
    'https://vivarium/',
  ])('%s does not exist', async (url) => {
    const response = await serve()(url);
    expect([400, 404]).toContain(response.status);
    expect(await response.text()).not.toContain('secret"');
  });

  it('is read-only', async () => {
    const answer = serve();
    expect((await answer('app://vivarium/', 'POST')).status).toBe(405);
    expect(await (await answer('app://vivarium/', 'HEAD')).text()).toBe('');
  });

  it.each(['app://vivarium/', 'app://vivarium/missing.js'])(
    '%s has a policy that admits nothing but the page itself',
    async (url) => {
      const { headers } = await serve()(url);
      const policy = headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'self'",
          "script-src 'self'",
          "connect-src 'self'",
          "object-src 'none'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy?.filter((rule) => rule.includes('unsafe'))).toEqual(["style-src-attr 'unsafe-inline'"]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );
});
