import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CONNECTIONS_MAX, IDLE_MS_MAX } from '../../../main/dns/server/connections.ts';
import { framed, headerOf, message, opt, TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { startDns, type RunningDns } from '../../support/dns/dns-server.ts';
import { zoneOf } from '../../support/dns/dns-tables.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';

describe('the server survives any input', () => {
  let dns: RunningDns;
  let clock: FakeClock;
  const opened: { close(): void }[] = [];
  const logged: unknown[] = [];
  const keep = <Client extends { close(): void }>(client: Client): Client => (opened.push(client), client);
  const tcp = async () => keep(await TcpClient.open(dns.port));

  beforeEach(async () => {
    clock = createFakeClock();
    const note = (text: string, fields?: unknown) => void logged.push([text, fields]);
    const large = Array.from({ length: 3500 }, (_, n) => `large A 10.0.${n >> 8}.${n & 255}`).join('\n');
    dns = await startDns([zoneOf('acme.test', `www A 192.0.2.1\n${large}`)], {
      clock,
      log: { debug: note, info: note, warn: note, error: note },
    });
  });

  afterEach(async () => {
    for (const client of opened.splice(0)) client.close();
    await dns.server.stop();
    expect(logged.splice(0)).toEqual([]);
  });

  async function stillServes() {
    for (const address of ['127.0.0.1', '::1']) {
      const client = keep(new UdpClient(dns.port, address));
      expect(headerOf(await client.ask(message())).rcode).toBe('NOERROR');
    }
    expect(headerOf(await (await tcp()).ask(message())).rcode).toBe('NOERROR');
  }

  test('UDP: datagrams that deserve no reply get none, and the next query gets its reply', async () => {
    const client = keep(new UdpClient(dns.port));
    await client.send(Buffer.alloc(0));
    await client.send(Buffer.from([1, 2, 3]));
    await client.send(message({ id: 1, flags: 0x8180 }));
    await client.send(Buffer.alloc(11));
    expect(headerOf(await client.ask(message({ id: 2 })))).toMatchObject({ id: 2, rcode: 'NOERROR' });
  });

  test('UDP: 65 KB of questions give FORMERR', async () => {
    const client = keep(new UdpClient(dns.port));
    const questions = Buffer.concat(Array<Buffer>(9000).fill(Buffer.from([1, 0x61, 0, 0, 1, 0, 1])));
    const reply = await client.ask(message({ id: 3, counts: [9001, 0, 0, 0], rest: questions }));
    expect(headerOf(reply)).toMatchObject({ id: 3, rcode: 'FORMERR', counts: [0, 0, 0, 0] });
    await stillServes();
  });

  test('UDP: 5,000 datagrams of noise', async () => {
    const client = keep(new UdpClient(dns.port));
    for (let n = 0; n < 5000; n++) {
      await client.send(Buffer.from(Array.from({ length: n % 12 }, (_, index) => (n * 31 + index * 17) & 255)));
      // A valid one in between, so that the noise is read as fast as it is sent.
      if (n % 50 === 0) expect(headerOf(await client.ask(message({ id: n }))).id).toBe(n);
    }
    await stillServes();
  });

  test('TCP: queries may arrive in any pieces', async () => {
    const client = await tcp();
    const stream = Buffer.concat([framed(message({ id: 1 })), framed(message({ id: 2, rest: opt() }))]);
    for (let at = 0; at < stream.length; at += 3) await client.write(stream.subarray(at, at + 3));
    expect([headerOf(await client.reply()).id, headerOf(await client.reply()).id]).toEqual([1, 2]);
  });

  test('TCP: 2,000 queries in one write are answered in order', async () => {
    const client = await tcp();
    const stream = Buffer.concat(Array.from({ length: 2000 }, (_, id) => framed(message({ id }))));
    await client.write(stream);
    const ids: number[] = [];
    for (let n = 0; n < 2000; n++) ids.push(headerOf(await client.reply()).id);
    expect(ids).toEqual(Array.from({ length: 2000 }, (_, id) => id));
  });

  test('TCP: a client that half-closes still gets its replies', async () => {
    const client = await tcp();
    client.socket.end(Buffer.concat([framed(message({ id: 1 })), framed(message({ id: 2, name: 'large.acme.test' }))]));
    expect(headerOf(await client.reply()).id).toBe(1);
    expect(headerOf(await client.reply())).toMatchObject({ id: 2, counts: [1, 3500, 0, 0] });
    await client.closed;
  });

  test.each([
    ['an end inside a message', Buffer.from([0, 40, 1, 2, 3])],
    ['an end inside a length', Buffer.from([0])],
  ])('TCP: %s closes the connection', async (_what, octets) => {
    const client = await tcp();
    client.socket.end(octets);
    await client.closed;
    await stillServes();
  });

  test.each([0, 1, 11])('TCP: a message of %i octets closes the connection', async (length) => {
    const client = await tcp();
    await client.write(framed(Buffer.alloc(length)));
    await client.closed;
    await stillServes();
  });

  test('TCP: a message of 65,535 octets gives FORMERR, and the next is answered', async () => {
    const client = await tcp();
    const long = Buffer.concat([message({ id: 7 }), Buffer.alloc(65_535)]).subarray(0, 65_535);
    await client.write(Buffer.concat([framed(long), framed(message({ id: 8 }))]));
    expect(headerOf(await client.reply())).toMatchObject({ id: 7, rcode: 'FORMERR' });
    expect(headerOf(await client.reply())).toMatchObject({ id: 8, rcode: 'NOERROR' });
  });

  test('TCP: a response is ignored', async () => {
    const client = await tcp();
    await client.write(Buffer.concat([framed(message({ id: 1, flags: 0x8000 })), framed(message({ id: 2 }))]));
    expect(headerOf(await client.reply()).id).toBe(2);
  });

  test('TCP: a reset does no harm', async () => {
    const client = await tcp();
    await client.write(framed(message({ name: 'large.acme.test' })));
    client.socket.resetAndDestroy();
    await client.closed;
    await stillServes();
  });

  test.each([
    ['in one go', 3000],
    ['one by one', 1],
  ])(
    'TCP: a client that asks %s without reading stops being answered, and others do not notice',
    async (_how, together) => {
      const client = await tcp();
      client.socket.pause();
      client.socket.setNoDelay(true);
      // 3,000 replies of 56 KB are 168 MB, which must not pile up here.
      const before = process.memoryUsage().rss;
      for (let id = 0; id < 3000; id += together) {
        const queries = Array.from({ length: together }, (_, n) =>
          framed(message({ id: id + n, name: 'large.acme.test' })),
        );
        client.socket.write(Buffer.concat(queries));
        if (together === 1) await new Promise((resolve) => setImmediate(resolve));
      }
      for (let n = 0; n < 20; n++) await stillServes();
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
      client.socket.resume();
      for (let id = 0; id < 20; id++) expect(headerOf(await client.reply()).id).toBe(id);
    },
  );

  test('TCP: 200 idle clients displace the longest idle, and service continues', async () => {
    const idle: TcpClient[] = [];
    for (let n = 0; n < 200; n++) idle.push(await tcp());
    await stillServes();
    expect(dns.server.connectionCount()).toBeLessThanOrEqual(CONNECTIONS_MAX);
    // The first has been idle longest; the last is still connected.
    await idle[0]?.closed;
    const last = idle.at(-1);
    expect(last === undefined ? null : headerOf(await last.ask(message({ id: 9 }))).id).toBe(9);
  });

  test('TCP: a client that asks now and then is kept when idle ones are closed', async () => {
    const busy = await tcp();
    for (let n = 0; n < 200; n++) {
      await tcp();
      expect(headerOf(await busy.ask(message({ id: n }))).id).toBe(n);
    }
  });

  test('TCP: a new client is kept when there are too many others that have asked', async () => {
    const newcomer = await tcp();
    for (let n = 0; n < CONNECTIONS_MAX + 20; n++) await (await tcp()).ask(message({ id: n }));
    expect(headerOf(await newcomer.ask(message({ id: 9 }))).id).toBe(9);
  });

  test('TCP: a client that has asked is kept when there are too many silent clients', async () => {
    const asked = await tcp();
    await asked.ask(message());
    for (let n = 0; n < 2 * CONNECTIONS_MAX; n++) await tcp();
    await stillServes();
    expect(dns.server.connectionCount()).toBeLessThanOrEqual(CONNECTIONS_MAX);
    expect(headerOf(await asked.ask(message({ id: 9 }))).id).toBe(9);
  });

  test('TCP: the idle time runs from the last complete query', async () => {
    const [asking, dripping, silent] = [await tcp(), await tcp(), await tcp()];
    await asking.ask(message());
    await clock.pass(IDLE_MS_MAX - 1000);
    await asking.ask(message());
    await dripping.write(Buffer.from([0]));
    await clock.pass(2000);
    await Promise.all([dripping.closed, silent.closed]);
    expect(dns.server.connectionCount()).toBe(1);
    expect(headerOf(await asking.ask(message())).rcode).toBe('NOERROR');
    await clock.pass(IDLE_MS_MAX + 1000);
    await asking.closed;
    expect(dns.server.connectionCount()).toBe(0);
  });
});
