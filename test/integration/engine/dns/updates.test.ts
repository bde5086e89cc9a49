import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { requireTool } from '../../../support/tools.ts';
import { execute as run } from '../../../support/command.ts';

async function setUp(apex = 'acme.test') {
  const engine = await startEngine({ empty: true });
  await engine.call('zones.create', { name: apex });
  const key = await engine.call('zones.updateKey', { name: apex });
  return { engine, key, port: engine.app.runtime.dns.port };
}

/** The output of `nsupdate`; empty when the update was accepted. `key` is the text of a key file. */
function nsupdate(port: number, key: string | null, lines: string, options: string[] = []): Promise<string> {
  const file = join(process.env['TMPDIR'] ?? '/tmp', `update-${port}.key`);
  writeFileSync(file, key ?? '', { mode: 0o600 });
  const child = spawn(requireTool('nsupdate'), [...(key === null ? [] : ['-k', file]), ...options]);
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  child.stdin.end(`server 127.0.0.1 ${port}\n${lines}\nsend\n`);
  return new Promise((resolve) => child.on('close', () => resolve(said.trim())));
}

async function recordsOf(engine: Engine, zone = 'acme.test'): Promise<string[]> {
  const records = await engine.call('records.list', { zone });
  return records.map(({ name, type, value }) => `${name} ${type} ${value}`);
}

async function short(port: number, name: string, type: string): Promise<string> {
  const { stdout } = await run(requireTool('dig'), ['@127.0.0.1', '-p', String(port), '+short', name, type]);
  return stdout.trim();
}

describe('nsupdate', () => {
  it('adds, replaces and deletes records over UDP and TCP, signed with any of three hashes', async () => {
    const { engine, key, port } = await setUp();
    const add = 'zone acme.test\nupdate add www.acme.test 60 A 192.0.2.1\nupdate add www.acme.test 60 A 192.0.2.2';
    expect(await nsupdate(port, key.file, add)).toBe('');
    expect(await recordsOf(engine)).toEqual(['www A 192.0.2.1', 'www A 192.0.2.2']);
    const challenge = 'update add _acme-challenge.acme.test 60 TXT "a b" "c"';
    expect(await nsupdate(port, key.file.replace('sha256', 'sha512'), challenge, ['-v'])).toBe('');
    expect(await short(port, '_acme-challenge.acme.test', 'TXT')).toBe('"a b" "c"');
    const others = 'update delete www.acme.test A 192.0.2.1\nupdate delete _acme-challenge.acme.test';
    expect(await nsupdate(port, key.file.replace('sha256', 'sha384'), others)).toBe('');
    expect(await recordsOf(engine)).toEqual(['www A 192.0.2.2']);
    expect(await short(port, 'www.acme.test', 'A')).toBe('192.0.2.2');
  });

  it.each([
    ['prereq nxdomain www.acme.test', 'YXDOMAIN'],
    ['prereq yxdomain none.acme.test', 'NXDOMAIN'],
    ['prereq nxrrset www.acme.test A', 'YXRRSET'],
    ['prereq yxrrset www.acme.test TXT', 'NXRRSET'],
    ['prereq yxrrset www.acme.test A 192.0.2.9', 'NXRRSET'],
    ['zone acme.test\nprereq yxdomain other.test', 'NOTZONE'],
    ['zone other.test', 'NOTAUTH'],
    ['update add c.acme.test 60 CNAME www\nupdate add c.acme.test 60 A 192.0.2.3', 'REFUSED'],
    ['update add acme.test 60 CNAME www', 'REFUSED'],
  ])('%s: nothing is changed, %s', async (lines, rcode) => {
    const { engine, key, port } = await setUp();
    await engine.call('records.put', { zone: 'acme.test', name: 'www', type: 'A', value: '192.0.2.1' });
    const inZone = lines.includes('zone ') ? lines : `zone acme.test\n${lines}`;
    const said = await nsupdate(port, key.file, `${inZone}\nupdate add new.acme.test 60 A 192.0.2.7`);
    expect(said).toBe(`update failed: ${rcode}`);
    expect(await recordsOf(engine)).toEqual(['www A 192.0.2.1']);
  });

  it('is refused without a key, and with a wrong key, another zone’s, or a replaced one', async () => {
    const { engine, key, port } = await setUp();
    await engine.call('zones.create', { name: 'other.test' });
    const other = await engine.call('zones.updateKey', { name: 'other.test' });
    const line = 'zone acme.test\nupdate add www.acme.test 60 A 192.0.2.1';
    expect(await nsupdate(port, null, line)).toBe('update failed: REFUSED');
    expect(await nsupdate(port, other.file, line)).toBe('update failed: REFUSED');
    const wrong = key.file.replace(key.secret, other.secret);
    expect(await nsupdate(port, wrong, line)).toContain('NOTAUTH(BADSIG)');
    expect(await nsupdate(port, key.file.replace('key "acme', 'key "none'), line)).toContain('NOTAUTH(BADKEY)');
    const renewed = await engine.call('zones.updateKey', { name: 'acme.test', renew: true });
    expect(await engine.call('zones.updateKey', { name: 'acme.test' })).toEqual(renewed);
    expect(await nsupdate(port, key.file, line)).toContain('NOTAUTH(BADSIG)');
    expect(await recordsOf(engine)).toEqual([]);
    expect(await nsupdate(port, renewed.file, line)).toBe('');
  });

  it('signs with real time, and its changes propagate on the app’s clock', async () => {
    const { engine, key, port } = await setUp();
    await engine.call('settings.update', { propagation: 'PT1H' });
    await engine.call('clock.advance', { by: 'P30D' });
    expect(await nsupdate(port, key.file, 'zone acme.test\nupdate add www.acme.test 60 A 192.0.2.1')).toBe('');
    expect(await short(port, 'www.acme.test', 'A')).toBe('');
    await engine.call('clock.advance', { by: 'PT1H' });
    expect(await short(port, 'www.acme.test', 'A')).toBe('192.0.2.1');
  });

  it('has no effect when its message is replayed', async () => {
    const { engine, key, port } = await setUp();
    // A relay between nsupdate and the server, which records what passes.
    const relay = createSocket('udp4');
    const server = createSocket('udp4');
    const sent: Buffer[] = [];
    const replies: Buffer[] = [];
    relay.on('message', (message, from) => {
      sent.push(message);
      server.once('message', (reply) => {
        replies.push(reply);
        relay.send(reply, from.port, from.address);
      });
      server.send(message, port, '127.0.0.1');
    });
    await new Promise<void>((resolve) => relay.bind(0, '127.0.0.1', resolve));
    const add = 'zone acme.test\nupdate add www.acme.test 60 A 192.0.2.1';
    expect(await nsupdate(relay.address().port, key.file, add)).toBe('');
    const [record] = await engine.call('records.list', { zone: 'acme.test' });
    await engine.call('records.remove', { id: record?.id });
    const [update = Buffer.alloc(0)] = sent;
    const again = await new Promise<Buffer>((resolve) => {
      server.once('message', resolve);
      server.send(update, port, '127.0.0.1');
    });
    expect(again).toEqual(replies[0]);
    expect(await recordsOf(engine)).toEqual([]);
    relay.close();
    server.close();
  });
});
