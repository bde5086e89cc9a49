import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { headerOf, message, TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { startDns } from '../../support/dns/dns-server.ts';
import { zoneOf } from '../../support/dns/dns-tables.ts';
import { freePort } from '../../support/ports.ts';

const ZONES = [zoneOf('acme.test', 'www A 192.0.2.1')];

describe('the server’s sockets', () => {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  const start = async (port = 0) => {
    const dns = await startDns(ZONES, { port });
    cleanUps.push(() => dns.server.stop());
    return dns;
  };

  test('UDP and TCP answer on 127.0.0.1 and ::1, on one port', async () => {
    const dns = await start();
    expect(dns).toMatchObject({ addresses: ['127.0.0.1', '::1'], warnings: [] });
    expect(dns.port).toBeGreaterThan(0);
    for (const address of dns.addresses) {
      const [udp, tcp] = [new UdpClient(dns.port, address), await TcpClient.open(dns.port, address)];
      cleanUps.push(
        () => udp.close(),
        () => tcp.close(),
      );
      expect(headerOf(await udp.ask(message())).rcode).toBe('NOERROR');
      expect(headerOf(await tcp.ask(message())).rcode).toBe('NOERROR');
    }
  });

  test.each([
    ['UDP', '127.0.0.1'],
    ['UDP', '::1'],
    ['TCP', '127.0.0.1'],
    ['TCP', '::1'],
  ])('a port that is in use over %s on %s is named, with the option that changes it', async (transport, address) => {
    const port = await freePort();
    await take(port, transport, address);
    await expect(startDns(ZONES, { port })).rejects.toMatchObject({
      name: 'VivariumError',
      code: 'conflict',
      message: expect.stringContaining(`Port ${port} (${transport} on ${address}) is taken`),
    });
  });

  test.runIf(process.platform === 'linux')(
    'the holder of the UDP port is named, not the process that holds TCP',
    async () => {
      const port = await freePort();
      const program = `require('node:dgram').createSocket('udp4').bind(${port}, '127.0.0.1', () => console.log('bound'))`;
      const holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
      cleanUps.push(() => holder.kill());
      await once(holder.stdout, 'data');
      await expect(startDns(ZONES, { port })).rejects.toMatchObject({
        message: expect.stringContaining(`(pid ${holder.pid})`),
      });
    },
  );

  async function take(port: number, transport: string, address: string): Promise<void> {
    if (transport === 'TCP') {
      const server = createServer().listen(port, address);
      cleanUps.push(() => server.close());
      await once(server, 'listening');
    } else {
      const socket = createSocket(address === '::1' ? 'udp6' : 'udp4').bind(port, address);
      cleanUps.push(() => socket.close());
      await once(socket, 'listening');
    }
  }

  test('stopping ends open connections at once, and frees the port', async () => {
    const dns = await start(await freePort());
    const clients = await Promise.all(Array.from({ length: 20 }, () => TcpClient.open(dns.port)));
    cleanUps.push(() => clients.forEach((client) => client.close()));
    await clients[0]?.write(Buffer.from([0, 30, 1]));
    await Promise.all([dns.server.stop(), dns.server.stop()]);
    await Promise.all(clients.map(({ closed }) => closed));
    await expect(TcpClient.open(dns.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await start(dns.port)).port).toBe(dns.port);
  });

  test('stopping before or during a start leaves nothing open', async () => {
    const dns = await start();
    await dns.server.stop();
    await expect(dns.server.start()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('two servers on free ports do not conflict', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => start()));
    expect(new Set(all.map(({ port }) => port)).size).toBe(8);
  });
});
