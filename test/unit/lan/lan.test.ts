import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { profileDomains, qrCode, renderDevicePage, renderProfile } from '../../../main/lan/device-page.ts';
import { addressKind, choicesOf, choosePlace, type Interfaces, type Place } from '../../../main/lan/interfaces.ts';
import { CHECK_MS, createSwitch } from '../../../main/lan/switch.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const at = (...addresses: string[]) => addresses.map((address) => ({ address, internal: false }));
const LO = { lo: [{ address: '127.0.0.1', internal: true }] };

const HOME: Interfaces = {
  ...LO,
  en0: at('fe80::1', 'fd00::5', '192.168.1.5', '2001:db8::5'),
  docker0: at('172.17.0.1'),
};
const TWO: Interfaces = { ...HOME, eth1: at('10.0.0.7') };
const OUTSIDE: Interfaces = { ...LO, ppp0: at('203.0.113.9'), tailscale0: at('100.101.102.103') };

test.each([
  ['10.1.2.3', 'private'],
  ['172.15.0.1', 'public'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.1', 'public'],
  ['192.168.0.1', 'private'],
  ['192.169.0.1', 'public'],
  ['169.254.3.4', 'self-assigned'],
  ['100.64.0.1', 'carrier'],
  ['100.128.0.1', 'public'],
  ['127.9.9.9', 'loopback'],
  ['::1', 'loopback'],
  ['fe80::1%en0', 'link'],
  ['fd12::1', 'local'],
  ['fc00::1', 'local'],
  ['2001:db8::1', 'public'],
])('the kind of %s is %s', (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

test('each interface offers its best address; containers and VPNs have to be named', () => {
  expect(choicesOf(HOME)).toEqual([
    { interface: 'docker0', address: '172.17.0.1', automatic: false },
    { interface: 'en0', address: '192.168.1.5', automatic: true },
  ]);
  expect(choicesOf(OUTSIDE)).toEqual([{ interface: 'tailscale0', address: '100.101.102.103', automatic: false }]);
});

const CHOICES = 'Choose from: docker0 (172.17.0.1), en0 (192.168.1.5).';
const VPN = 'Choose from: tailscale0 (100.101.102.103).';
const ALONE = 'This machine is not on a local network that can be chosen by default.';
const ALL = `Vivarium serves other devices on one interface, not on all addresses. ${CHOICES}`;

describe('the choice of an interface', () => {
  test.each<[string, Interfaces, string, string]>([
    ['the only network', HOME, '', 'en0 192.168.1.5'],
    ['an interface', TWO, 'eth1', 'eth1 10.0.0.7'],
    ['a container network, named', HOME, 'docker0', 'docker0 172.17.0.1'],
    ['an address', TWO, '192.168.1.5', 'en0 192.168.1.5'],
    ['an address that is not the interface’s best', HOME, 'fd00::5', 'en0 fd00::5'],
  ])('%s', (_what, found, wanted, chosen) => {
    expect(Object.values(choosePlace(found, wanted)).join(' ')).toBe(chosen);
  });

  test.each<[string, Interfaces, string, string]>([
    [
      '',
      TWO,
      'conflict',
      'This machine is on several networks: en0 (192.168.1.5), eth1 (10.0.0.7). Name the interface to serve, such as en0.',
    ],
    ['', LO, 'conflict', `${ALONE} There is currently nothing to choose from: connect to a network first.`],
    ['', OUTSIDE, 'conflict', `${ALONE} ${VPN}`],
    ['wlan9', HOME, 'not_found', `This machine has no interface "wlan9". ${CHOICES}`],
    ['192.168.1.6', HOME, 'not_found', `This machine does not have the address 192.168.1.6. ${CHOICES}`],
    ['lo', HOME, 'invalid_request', 'lo is loopback, where Vivarium always listens.'],
    ['127.0.0.1', HOME, 'invalid_request', '127.0.0.1 is loopback, where Vivarium always listens.'],
    ['0.0.0.0', HOME, 'invalid_request', ALL],
    ['::', HOME, 'invalid_request', ALL],
    [
      '203.0.113.9',
      OUTSIDE,
      'invalid_request',
      `203.0.113.9 is a public address: the whole internet could reach Vivarium there. ${VPN}`,
    ],
    ['ppp0', OUTSIDE, 'conflict', `ppp0 has no private address, only public ones. ${VPN}`],
    ['fe80::1', HOME, 'invalid_request', `fe80::1 needs an interface name, which URLs cannot contain. ${CHOICES}`],
  ])('refuses %j', (wanted, found, code, message) => {
    expect(() => choosePlace(found, wanted)).toThrow(expect.objectContaining({ code, message }) as Error);
  });
});

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

function setUp(kept: string | null = null) {
  const clock = createFakeClock();
  const found: Interfaces = { en0: [{ address: '10.0.0.1', internal: false }] };
  const world = { found, taken: false, closes: true, kept };
  const log: string[] = [];
  const lan = createSwitch({
    clock,
    log: silentLog,
    readInterfaces: () => world.found,
    open({ address }: Place) {
      if (world.taken) return Promise.reject(new VivariumError('conflict', 'Port 8080 is taken.'));
      log.push(`open ${address}`);
      return Promise.resolve({
        close: () =>
          world.closes ? Promise.resolve(void log.push(`close ${address}`)) : Promise.reject(new Error('It is gone.')),
      });
    },
    kept: { get: () => world.kept, set: (wanted) => (world.kept = wanted) },
    onChanged: () => undefined,
  });
  return { lan, world, log, look: () => clock.pass(CHECK_MS) };
}

test('sharing follows the interface to another address, away and back, and closes what it opened', async () => {
  const { lan, world, log, look } = setUp();
  await lan.start('', false);
  await look();
  expect(log).toEqual(['open 10.0.0.1']);
  world.found = { en0: [{ address: '10.0.0.2', internal: false }] };
  await look();
  expect(lan.state()).toMatchObject({ kind: 'on', wanted: 'en0', place: { address: '10.0.0.2' } });
  world.found = {};
  await look();
  expect(lan.state()).toMatchObject({ kind: 'waiting', wanted: 'en0' });
  world.found = { en0: [{ address: '10.0.0.3', internal: false }] };
  world.taken = true;
  await look();
  expect(lan.state()).toMatchObject({ kind: 'waiting', problem: 'Port 8080 is taken.' });
  world.taken = false;
  await look();
  await lan.stop();
  await look();
  expect(log).toEqual([
    ...['open 10.0.0.1', 'close 10.0.0.1', 'open 10.0.0.2', 'close 10.0.0.2', 'open 10.0.0.3', 'close 10.0.0.3'],
  ]);
  expect(lan.state()).toEqual({ kind: 'off' });
});

test('sharing follows the interface even if a socket cannot be closed, because the interface is gone', async () => {
  const { lan, world, look } = setUp();
  await lan.start('en0');
  world.closes = false;
  world.found = { en0: [{ address: '10.0.0.2', internal: false }] };
  await look();
  expect(lan.state()).toMatchObject({ kind: 'on', place: { address: '10.0.0.2' } });
});

test('a failed change leaves everything as it was', async () => {
  const { lan, world, log } = setUp();
  await lan.start('en0', true);
  world.found = { ...world.found, en1: [{ address: '10.9.0.1', internal: false }] };
  world.taken = true;
  await expect(lan.start('en1', false)).rejects.toMatchObject({ code: 'conflict' });
  await expect(lan.start('en7', false)).rejects.toMatchObject({ code: 'not_found' });
  expect([lan.state(), log, world.kept]).toMatchObject([{ place: { interface: 'en0' } }, ['open 10.0.0.1'], 'en0']);
  world.taken = false;
  await lan.start('en1');
  expect([log, world.kept]).toEqual([['open 10.0.0.1', 'open 10.9.0.1', 'close 10.0.0.1'], 'en0']);
});

test('sharing can be kept, or not, while it waits for its interface', async () => {
  const { lan, world, look } = setUp('en1');
  await lan.resume();
  await lan.start('en1', false);
  expect([lan.state().kind, world.kept]).toEqual(['waiting', null]);
  world.found = { en1: [{ address: '10.9.0.1', internal: false }] };
  await look();
  expect(lan.state().kind).toBe('on');
});

test.each<[string | null, string]>([
  [null, 'off'],
  ['en0', 'on'],
  ['en1', 'waiting'],
])('a start with %j kept is %s', async (kept, kind) => {
  const { lan, world } = setUp(kept);
  await lan.resume();
  expect(lan.state().kind).toBe(kind);
  await lan.close();
  expect([lan.state(), world.kept]).toEqual([{ kind: 'off' }, kept]);
});
