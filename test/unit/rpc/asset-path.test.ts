import { describe, expect, it } from 'vitest';
import { isHashed, readAssetPath } from '../../../main/rpc/assets.ts';

describe('a path of the interface', () => {
  it.each([
    ['view', '/ /projects /projects/prj_1/pets /dns/acme.test /projects/demo/domains/shop.js /%252e%252e/etc/passwd'],
    ['file', '/index.html /assets/index-B4x_9kQz.js /assets//index-B4x_9kQz.js /a%20name.svg'],
    ['unknown_type', '/server.ts /store.db'],
    [
      'refused',
      '/../secret.json /assets/../../secret.json /%2e%2e/secret.json /%2E%2E%2Fsecret.json /..%5csecret.json',
    ],
    [
      'refused',
      '/assets%5c..%5csecret.json /C:/secret.json /secret.json%00.png /.env /assets/.git/config.json /%zz /%ff',
    ],
  ])('is read as %s: %s', (kind, paths) => {
    for (const path of paths.split(' ')) expect(readAssetPath(path).kind, path).toBe(kind);
  });

  it.each([
    ['/a.js', 'text/javascript; charset=utf-8'],
    ['/a.CSS', 'text/css; charset=utf-8'],
    ['/a.svg', 'image/svg+xml'],
    ['/a.woff2', 'font/woff2'],
  ])('%s has the type %s', (path, mediaType) => {
    expect(readAssetPath(path)).toMatchObject({ mediaType });
  });

  it.each([
    ['assets/index-B4x_9kQz.js', true],
    ['assets/fonts/inter-C38fXH4l.woff2', true],
    ['assets/logo.svg', false],
    ['apple-touch-icon.png', false],
    ['index.html', false],
  ])('%s is named after its content: %s', (path, hashed) => {
    expect(isHashed(path.split('/'))).toBe(hashed);
  });
});
