import { describe, expect, test } from 'vitest';
import { addressKind, choicesOf, choosePlace, type Interfaces } from '../../../main/lan/interfaces.ts';

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
