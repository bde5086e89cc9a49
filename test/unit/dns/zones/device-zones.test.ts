import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../main/base/log.ts';
import {
  createDeviceZones,
  createSenderLimit,
  SENDER_BURST,
  SENDER_RATE,
} from '../../../../main/dns/zones/own-zones.ts';
import { createExchange } from '../../../../main/dns/server/exchange.ts';
import { readResponse } from '../../../../main/dns/wire/message-reader.ts';
import { QUESTION_TYPES, TYPE_CODES } from '../../../../main/dns/wire/record.ts';
import { serviceRecord } from '../../../../main/dns/wire/service-parameters.ts';
import { message } from '../../../support/dns/dns-client.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

function setUp(address = '192.168.1.5') {
  const devices = createDeviceZones({
    ...{ address, nameServer: 'vivarium.internal', service: () => serviceRecord(8443) },
  });
  devices.publish(['shop.acme.test', '*.wild.test', 'demo.vivarium.localhost', 'acme.test']);
  const exchange = createExchange({ zones: () => devices.zones, log: silentLog });
  const ask = (name: string, type: number) => {
    const query = message({ name, type });
    const reply = exchange(query, 'udp');
    const read = reply === null ? null : readResponse(reply);
    return { query, reply, read };
  };
  return { devices, ask };
}

const { A, AAAA, HTTPS, TXT, NS, SOA } = TYPE_CODES;

describe('answers to other devices', () => {
  test.each<[string, number, number, unknown[]]>([
    ['shop.acme.test', A, 0, [{ type: 'A', address: '192.168.1.5' }]],
    ['shop.acme.test', AAAA, 0, []],
    ['shop.acme.test', TXT, 0, []],
    ['acme.test', A, 0, [{ type: 'A', address: '192.168.1.5' }]],
    ['other.acme.test', A, 3, []],
    ['any.wild.test', A, 0, [{ type: 'A', address: '192.168.1.5' }]],
    ['wild.test', A, 0, []],
    ['vivarium.internal', A, 0, [{ type: 'A', address: '192.168.1.5' }]],
    // Below localhost, a device means itself; all other names belong to others.
    ['demo.vivarium.localhost', A, 5, []],
    ['test', SOA, 5, []],
    ['example.org', A, 5, []],
    ['', NS, 5, []],
  ])('%s, type %i: rcode %i', (name, type, rcode, data) => {
    const { read } = setUp().ask(name, type);
    expect([read?.rcode, read?.answer.map((record) => record.data)]).toEqual([rcode, data]);
  });

  test('HTTPS records tell the port, and disappear with the hostname at once', () => {
    const { devices, ask } = setUp();
    expect(ask('shop.acme.test', HTTPS).read?.answer).toMatchObject([{ ttlSeconds: 5, data: { type: 'HTTPS' } }]);
    devices.publish(['acme.test']);
    expect(ask('shop.acme.test', HTTPS).read?.rcode).toBe(3);
    devices.publish([]);
    expect(ask('acme.test', A).read?.rcode).toBe(5);
  });

  test('an interface with only IPv6 has AAAA records', () => {
    const { ask } = setUp('fd00::5');
    expect(ask('shop.acme.test', A).read?.answer).toEqual([]);
    expect(ask('shop.acme.test', AAAA).read?.answer).toMatchObject([{ data: { address: 'fd00::5' } }]);
  });

  test('no answer has four times the octets of its question, whatever the type', () => {
    const { ask } = setUp();
    const types = [...Object.values(TYPE_CODES), QUESTION_TYPES.ANY, QUESTION_TYPES.AXFR, 65_280];
    for (const name of ['shop.acme.test', 'x.acme.test', 'a.wild.test', 'example.org', 'vivarium.internal']) {
      for (const type of types) {
        const { query, reply } = ask(name, type);
        expect((reply?.length ?? 0) / query.length, `${name} ${type}`).toBeLessThan(4);
      }
    }
  });
});

test('datagrams of one network are limited together, whichever of its addresses they name', async () => {
  const clock = createFakeClock();
  const admits = createSenderLimit(clock);
  const admitted = (count: number, address: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => admits(address(index))).filter(Boolean).length;
  expect(admitted(SENDER_BURST + 50, (index) => `10.0.0.${index % 250}`)).toBe(SENDER_BURST);
  expect(admitted(10, () => '10.0.1.1')).toBe(10);
  expect(admitted(SENDER_BURST + 50, (index) => `fd00::${index.toString(16)}`)).toBe(SENDER_BURST);
  await clock.pass(1_000);
  expect(admitted(SENDER_BURST, () => '10.0.0.1')).toBe(SENDER_RATE);
});
