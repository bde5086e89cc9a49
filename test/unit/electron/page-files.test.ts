import { describe, expect, it } from 'vitest';
import { createPageFiles } from '../../../main/electron/rules.ts';
import { buildInterface, INTERFACE_PAGE as PAGE } from '../../support/rpc/rpc-interface.ts';

function serve() {
  const answer = createPageFiles(buildInterface());
  return (url: string, method = 'GET') => answer(new Request(url, { method }));
}

describe('app://vivarium', () => {
  it.each([
    ['app://vivarium/', PAGE, 'text/html'],
    ['app://vivarium/%252e%252e/secret.json', PAGE, 'text/html'],
    ['app://vivarium/projects/prj_1/domains?x=1#y', PAGE, 'text/html'],
    ['app://vivarium/assets/index-B4x_9kQz.js', 'export {};', 'text/javascript'],
  ])('%s belongs to the page', async (url, body, type) => {
    const response = await serve()(url);
    const content = response.headers.get('content-type');
    expect([response.status, await response.text(), content]).toEqual([200, body, `${type}; charset=utf-8`]);
  });

  it.each(
    [
      '../secret.json %2e%2e/secret.json %2e%2e%2fsecret.json assets/..%2f..%2fsecret.json ..%5csecret.json',
      '..\\secret.json ..%00/secret.json assets/%252e%252e/secret.json /hosts.txt link.json .env.json missing.js %ff.js',
    ]
      .flatMap((paths) => paths.split(' ').map((path) => `app://vivarium/${path}`))
      .concat('app://elsewhere/', 'app://vivarium:1/', 'file:///etc/hosts', 'https://vivarium/'),
  )('%s does not exist', async (url) => {
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
          ...['default', 'script', 'connect'].map((what) => `${what}-src 'self'`),
          ...['object-src', 'base-uri', 'form-action', 'frame-ancestors'].map((what) => `${what} 'none'`),
        ]),
      );
      expect(policy?.filter((rule) => rule.includes('unsafe'))).toEqual(["style-src-attr 'unsafe-inline'"]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );
});
