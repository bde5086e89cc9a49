import { describe, expect, test } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import { bindAddresses, type Opener } from '../../../main/dns/server/server.ts';

/** Sockets that fail where `fault` requires it, and know which of them are open. */
function fakeSockets(fault: (socket: string, port: number, attempt: number) => string | null) {
  const open = new Set<string>();
  let free = 40_000;
  let attempts = 0;
  const opener = (transport: string) => async (address: string, wanted: number) => {
    if (transport === 'tcp' && address === '127.0.0.1') attempts++;
    const port = wanted === 0 ? ++free : wanted;
    const code = fault(`${transport} ${address}`, port, attempts);
    if (code !== null) throw Object.assign(new Error(code), { code });
    const name = `${transport} ${address} ${port}`;
    open.add(name);
    return { port, close: () => Promise.resolve(void open.delete(name)) };
  };
  const sockets: Opener = { udp: opener('udp'), tcp: opener('tcp') };
  return { sockets, open };
}

describe('binding one port for four sockets', () => {
  test('opens all of them', async () => {
    const { sockets, open } = fakeSockets(() => null);
    const bound = await bindAddresses(sockets, 5380);
    expect(bound).toMatchObject({ port: 5380, addresses: ['127.0.0.1', '::1'], warnings: [] });
    expect([...open]).toEqual(['tcp 127.0.0.1 5380', 'udp 127.0.0.1 5380', 'tcp ::1 5380', 'udp ::1 5380']);
  });

  test.each(['tcp 127.0.0.1', 'udp 127.0.0.1', 'tcp ::1', 'udp ::1'])(
    'leaves nothing open if %s is taken',
    async (taken) => {
      const { sockets, open } = fakeSockets((socket) => (socket === taken ? 'EADDRINUSE' : null));
      const failure: unknown = await bindAddresses(sockets, 5380).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(VivariumError);
      expect(failure).toMatchObject({ code: 'conflict' });
      const [transport = '', address = ''] = taken.split(' ');
      expect(String(failure)).toContain(`Port 5380 (${transport.toUpperCase()} on ${address}) is taken`);
      expect(open.size).toBe(0);
    },
  );

  test('chooses another free port while one of the four is taken', async () => {
    const { sockets, open } = fakeSockets((socket, _port, attempt) =>
      socket === 'udp ::1' && attempt < 3 ? 'EADDRINUSE' : null,
    );
    expect(await bindAddresses(sockets, 0)).toMatchObject({ port: 40_003 });
    expect(open.size).toBe(4);
  });

  test('does not try free ports without end', async () => {
    let tries = 0;
    const { sockets } = fakeSockets((socket) => (socket === 'udp ::1' && ++tries > 0 ? 'EADDRINUSE' : null));
    await expect(bindAddresses(sockets, 0)).rejects.toMatchObject({ code: 'conflict' });
    expect(tries).toBe(32);
  });

  test.each(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])('logs a warning without IPv6 (%s)', async (code) => {
    const { sockets, open } = fakeSockets((socket) => (socket.includes('::1') ? code : null));
    expect(await bindAddresses(sockets, 5380)).toMatchObject({
      addresses: ['127.0.0.1'],
      warnings: ['This machine has no ::1: Vivarium listens on 127.0.0.1 only.'],
    });
    expect(open.size).toBe(2);
  });

  test.each([
    ['EACCES', '1024 or above'],
    ['EADDRNOTAVAIL', 'EADDRNOTAVAIL'],
    ['EMFILE', 'EMFILE'],
  ])('refuses %s on IPv4 with an explanation', async (system, text) => {
    const { sockets } = fakeSockets(() => system);
    await expect(bindAddresses(sockets, 53)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(text) as string,
    });
  });
});
