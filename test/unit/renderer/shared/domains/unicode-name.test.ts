import { domainToUnicode } from 'node:url';
import { describe, expect, it } from 'vitest';
import { unicodeOf, unicodeUrl } from '../../../../../renderer/shared/domains/unicode-name.ts';

describe('a hostname as people write it', () => {
  it.each([
    'xn--mnchen-gre-e4a9ync.test',
    'xn--bcher-kva.shop.test',
    '*.xn--bcher-kva.test',
    'xn--fsqu00a.xn--0zwm56d',
    'xn--hxajbheg2az3al.xn--jxalpdlp',
    'xn--egbpdaj6bu4bxfgehfvwxn.test',
    'xn--ls8h.test',
    'www.acme.test',
  ])('is what Node makes of %s', (hostname) => {
    expect(unicodeOf(hostname)).toBe(domainToUnicode(hostname));
  });

  it.each([
    'xn--.test',
    'xn--a.test',
    'xn--99999999.test',
    'xn--ab_c-.test',
    'xn--zzzzzzzzzzzzzzz.test',
    'xn--abc-.test',
  ])('stays %s, which spells no other name', (hostname) => {
    expect(unicodeOf(hostname)).toBe(hostname);
  });

  it('is replaced within an address, and nothing else is', () => {
    expect(unicodeUrl('https://xn--bcher-kva.test:8443/xn--bcher-kva')).toBe('https://bücher.test:8443/xn--bcher-kva');
    expect(unicodeUrl('https://shop.test/')).toBe('https://shop.test/');
  });
});
