import { describe, expect, it } from 'vitest';
import { isHashed, readAssetPath } from '../../../main/rpc/assets.ts';

describe('a path of the interface', () => {
  it.each([
    ['/', 'view'],
    ['/projects', 'view'],
    ['/projects/prj_1/pets', 'view'],
    ['/dns/acme.test', 'view'],
    ['/projects/demo/domains/shop.js', 'view'],
    ['/index.html', 'file'],
    ['/assets/index-B4x_9kQz.js', 'file'],
    ['/assets//index-B4x_9kQz.js', 'file'],
    ['/a%20name.svg', 'file'],
    ['/server.ts', 'unknown_type'],
    ['/store.db', 'unknown_type'],
    ['/%252e%252e/etc/passwd', 'view'],
    ['/../secret.json', 'refused'],
    ['/assets/../../secret.json', 'refused'],
    ['/%2e%2e/secret.json', 'refused'],
    ['/%2E%2E%2Fsecret.json', 'refused'],
    ['/..%5csecret.json', 'refused'],
    ['/assets%5c..%5csecret.json', 'refused'],
    ['/C:/secret.json', 'refused'],
    ['/secret.json%00.png', 'refused'],
    ['/.env', 'refused'],
    ['/assets/.git/config.json', 'refused'],
    ['/%zz', 'refused'],
    ['/%ff', 'refused'],
  ])('%s is read as %s', (path, kind) => {
    expect(readAssetPath(path).kind).toBe(kind);
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
