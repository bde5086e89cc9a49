import { expect, test } from 'vitest';
import { renderDevicePage, qrCode, profileDomains, renderProfile } from '../../../main/lan/device-page.ts';

const PROFILE = {
  certificate: Buffer.from('root'),
  fingerprint: 'AB:CD:EF:01:23:45:67',
  dohUrl: 'https://vivarium.internal:8443/dns-query?a=1&b=2',
  address: '192.168.1.5',
  domains: ['test', 'shop.acme.com'],
};

const valueOf = (text: string, key: string): string | undefined =>
  new RegExp(`<key>${key}</key>\\s*((?:<array>[^]*?</array>)|<[^\\n]*)`).exec(text)?.[1]?.replaceAll('\n', '');

test('the profile contains only the root and the resolver of its names', () => {
  const text = renderProfile(PROFILE);
  expect(text).toContain(`<data>${PROFILE.certificate.toString('base64')}</data>`);
  expect([...text.matchAll(/<key>PayloadType<\/key>\s*<string>([^<]+)/g)].map(([, type]) => type)).toEqual([
    ...['Configuration', 'com.apple.security.root', 'com.apple.dnsSettings.managed'],
  ]);
  expect(valueOf(text, 'ServerURL')).toBe('<string>https://vivarium.internal:8443/dns-query?a=1&amp;b=2</string>');
  expect(valueOf(text, 'ServerAddresses')).toBe('<array><string>192.168.1.5</string></array>');
  expect(valueOf(text, 'SupplementalMatchDomains')).toBe(
    '<array><string>test</string><string>shop.acme.com</string></array>',
  );
});

test('the profile lists the hostnames outside the reserved suffixes, a wildcard and its apex once', () => {
  expect(profileDomains(['test', 'localhost'], ['a.test', 'test', '*.acme.com', 'acme.com', 'atest'])).toEqual([
    ...['test', 'localhost', 'acme.com', 'atest'],
  ]);
});

test('a later profile of the same root replaces the first, one of another root does not', () => {
  const idsOf = (text: string) =>
    [...text.matchAll(/[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/g)].map(String);
  const ids = idsOf(renderProfile(PROFILE));
  expect(new Set(ids).size).toBe(3);
  expect(idsOf(renderProfile({ ...PROFILE, address: '10.0.0.1', domains: [] }))).toEqual(ids);
  expect(idsOf(renderProfile({ ...PROFILE, fingerprint: 'FF:FF' }))).not.toContain(ids[0]);
});

test('the page links to each hostname by its scheme, at most 50, and tells when there is none', () => {
  const page = (hostnames: readonly string[]) =>
    renderDevicePage({
      ...{ origin: 'http://192.168.1.5:8080', ports: { http: 8080, https: 8443 }, hostnames, fingerprint: 'AB' },
      isSecure: (hostname) => hostname !== 'plain.test',
    }).content;
  expect(page(['a.test', 'plain.test', '*.wild.test'])).toMatch(
    /href="https:\/\/a\.test:8443\/".*href="http:\/\/plain\.test:8080\/".*href="https:\/\/www\.wild\.test:8443\/"/s,
  );
  expect(page(Array.from({ length: 53 }, (_, index) => `h${index}.test`))).toContain('And 3 more.');
  expect(page([])).toContain('None yet');
});

test('a QR code is drawn row by row, with a margin of four modules', () => {
  const { size, path } = qrCode('http://192.168.1.5:8080/');
  const dark = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let at = Number(x); at < Number(x) + Number(width); at++) (dark[Number(y)] ?? [])[at] = true;
  }
  expect(path.replaceAll(/M\d+ \d+h(\d+)v1h-\1z/g, '')).toBe('');
  // ISO/IEC 18004 §6.3.3: the finder pattern in the corner.
  expect(
    dark.slice(4, 11).map((row) =>
      row
        .slice(4, 11)
        .map((each) => (each ? '#' : '.'))
        .join(''),
    ),
  ).toEqual([...['#######', '#.....#', '#.###.#', '#.###.#', '#.###.#', '#.....#', '#######']]);
  for (const edge of [...dark.slice(0, 4), ...dark.slice(-4)]) expect(edge).not.toContain(true);
});
