import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type TestContext } from 'vitest';
import type { LanStatus } from '../../../../main/contract/reach.ts';
import { addressBytes } from '../../../../main/model/address.ts';
import { FREE_PORTS, runProgram, startProgram, type RunningProgram } from '../../../support/program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import {
  HOST_ADDRESS,
  HOST_INTERFACE,
  IPV6_ADDRESSES,
  useIpv6,
  twoMachines,
  missingForTwoMachines,
  type TwoMachines,
} from '../../../support/two-machines.ts';

/** A hostname of the demo that has a certificate. */
const SHOP = 'www.happypaws.test';

const reason = missingForTwoMachines();
const needsMachines = ({ skip }: TestContext): void => skip(reason !== null, reason ?? '');

function call(machines: TwoMachines, { runtime }: RunningProgram, procedure: string, input: unknown = {}) {
  const { url, token } = runtime.control;
  const fields = ['-H', `Authorization: Bearer ${token}`, '-H', 'Content-Type: application/json'];
  const sent = ['-d', JSON.stringify(input), `${url}/api/lan/${procedure}`];
  const { stdout } = machines.run('host', 'curl', '-s', ...fields, ...sent);
  return JSON.parse(stdout) as LanStatus & { message: string };
}

async function until(machines: TwoMachines, program: RunningProgram, isIt: (status: LanStatus) => boolean) {
  for (;;) {
    const status = call(machines, program, 'status');
    if (isIt(status)) return status;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('another device opens the hostnames, verified, and reaches nothing else', async (context) => {
  needsMachines(context);
  const machines = await twoMachines();
  const device = (...words: string[]) => machines.run('device', words[0] ?? '', ...words.slice(1));
  const program = await startProgram(['--lan'], { within: machines.on('host') });
  const { http, https, dns, control } = program.runtime;
  const page = `http://${HOST_ADDRESS}:${http.port}`;
  const status = call(machines, program, 'status');
  expect(status).toMatchObject({ state: 'on', interface: HOST_INTERFACE, address: HOST_ADDRESS, keep: false });
  expect(status).toMatchObject({ url: `${page}/`, pacUrl: `${page}/proxy.pac`, dns: `${HOST_ADDRESS}:${dns.port}` });
  expect(program.output().stdout).toContain(`${page}/`);

  // What the device downloads from the page makes the hostname verifiable: by the proxy, and by the port.
  const root = join(temporaryFolder(), 'root.crt');
  expect(device('curl', '-s', `${page}/`).stdout).toContain('/vivarium.mobileconfig');
  expect(device('curl', '-s', `${page}/vivarium.mobileconfig`).stdout).toMatch(
    /^(?![^]*<string>localhost<)[^]*com\.apple\.dnsSettings\.managed/,
  );
  device('curl', '-s', '-o', `${root}.der`, `${page}/vivarium-root.crt`);
  const { stdout: pem } = device('openssl', 'x509', '-inform', 'DER', '-in', `${root}.der`);
  writeFileSync(root, pem);
  expect(device('curl', '-s', `${page}/proxy.pac`).stdout).toContain(`PROXY ${HOST_ADDRESS}:${http.port}`);
  const shown = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{ssl_verify_result}', '--cacert', root];
  expect(device('curl', ...shown, '-x', page, `https://${SHOP}/v1/openapi.json`).stdout).toBe('200 0');
  const direct = `https://${SHOP}:${https.port}/v1/openapi.json`;
  const doh = `vivarium.internal:${https.port}`;
  const byDoh = ['--resolve', `${doh}:${HOST_ADDRESS}`, '--doh-url', `https://${doh}/dns-query`];
  expect(device('curl', ...shown, ...byDoh, direct).stdout).toBe('200 0');

  // DNS: the served hostnames at this address, but no zones and no other names.
  const dig = (...words: string[]) => device('dig', `@${HOST_ADDRESS}`, '-p', `${dns.port}`, ...words).stdout;
  expect(dig('+short', SHOP, 'A')).toBe(`${HOST_ADDRESS}\n`);
  expect(dig('+short', SHOP, 'HTTPS')).toContain(`port=${https.port}`);
  expect(dig('+short', SHOP, 'CNAME')).toBe('');
  for (const other of ['happypaws.test', 'demo.vivarium.localhost', 'example.org']) {
    expect(dig(other, 'A')).toContain('status: REFUSED');
  }

  // The control port, and what only loopback may reach.
  expect(device('curl', '-s', `http://${HOST_ADDRESS}:${control.url.split(':').at(-1) ?? ''}/`).code).toBe(7);
  const probe = '/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB';
  const asLocal = ['--resolve', `localhost:${https.port}:${HOST_ADDRESS}`, `https://localhost:${https.port}${probe}`];
  expect(device('curl', ...shown, ...asLocal).stdout).not.toMatch(/^200/);
  expect(device('curl', '-s', '-H', 'Host: localhost', `${page}/root.crl`, '-w', '%{http_code}').stdout).toMatch(
    /404$/,
  );

  // The name.
  const { localUrl } = await until(machines, program, (now) => now.localUrl !== undefined);
  expect(localUrl).toBe(`http://vivarium.local:${http.port}/`);
  expect(device('curl', '-s', '-H', 'Host: vivarium.local', page).stdout).toContain('/vivarium.mobileconfig');
  const asked = device(process.execPath, '-e', askByMulticast(15_000)).stdout.trim();
  expect(Buffer.from(asked, 'hex')).toEqual(addressBytes(HOST_ADDRESS));

  // Off: nothing remains reachable, not even over an open connection.
  expect(call(machines, program, 'stop')).toMatchObject({ state: 'off', keep: false });
  expect(device('curl', '-s', page).code).toBe(7);
  expect(dig('+tries=1', '+time=1', SHOP)).not.toContain('ANSWER');
  expect(device(process.execPath, '-e', askByMulticast(1_000)).stdout.trim()).toBe('');
  await program.end();
});

test('sharing waits for a missing interface, and follows it to another address; only if kept, it is on after a restart', async (context) => {
  needsMachines(context);
  const machines = await twoMachines();
  const host = (...words: string[]) => machines.run('host', 'ip', ...words);
  const within = machines.on('host');
  const program = await startProgram([], { within });
  expect(call(machines, program, 'status')).toMatchObject({
    state: 'off',
    choices: [{ interface: HOST_INTERFACE, address: HOST_ADDRESS, automatic: true }],
  });
  expect(call(machines, program, 'start', { keep: true })).toMatchObject({ state: 'on', keep: true });
  host('addr', 'del', `${HOST_ADDRESS}/24`, 'dev', HOST_INTERFACE);
  const waiting = await until(machines, program, ({ state }) => state === 'waiting');
  expect(waiting.problem).toContain(`${HOST_INTERFACE}`);
  host('addr', 'add', '10.77.0.9/24', 'dev', HOST_INTERFACE);
  expect(await until(machines, program, ({ state }) => state === 'on')).toMatchObject({ address: '10.77.0.9' });
  const url = `http://10.77.0.9:${program.runtime.http.port}/`;
  expect(machines.run('device', 'curl', '-s', url).stdout).toContain('/vivarium.mobileconfig');
  await program.end();

  // Kept: from the start on, it waits for the interface if need be.
  const { dataDir } = program;
  host('addr', 'del', '10.77.0.9/24', 'dev', HOST_INTERFACE);
  const again = await startProgram([], { dataDir, within });
  expect(call(machines, again, 'status')).toMatchObject({ state: 'waiting', keep: true, wanted: HOST_INTERFACE });
  host('addr', 'add', `${HOST_ADDRESS}/24`, 'dev', HOST_INTERFACE);
  await until(machines, again, ({ state }) => state === 'on');
  call(machines, again, 'start', { interface: HOST_INTERFACE });
  await again.end();
  const off = await startProgram([], { dataDir, within });
  expect(call(machines, off, 'status')).toMatchObject({ state: 'off', keep: false });
  await off.end();

  // With two networks, the start asks which to use.
  host('link', 'add', 'lan1', 'type', 'veth', 'peer', 'name', 'lan2');
  for (const name of ['lan1', 'lan2']) host('link', 'set', name, 'up');
  host('addr', 'add', '192.168.5.1/24', 'dev', 'lan1');
  const refused = await runProgram(['serve', '--ephemeral', ...FREE_PORTS, '--lan'], {}, within);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toBe(
    'vivarium: This machine is on several networks: lan0 (10.77.0.1), lan1 (192.168.5.1). Name the interface to serve, such as lan0.\n',
  );
});

test('at an IPv6 address, another device finds vivarium.local and its page, and the hostnames', async (context) => {
  needsMachines(context);
  const machines = await twoMachines();
  useIpv6(machines);
  const device = (...words: string[]) => machines.run('device', words[0] ?? '', ...words.slice(1)).stdout;
  const program = await startProgram([`--lan=${IPV6_ADDRESSES.host}`], { within: machines.on('host') });
  const { localUrl, url } = await until(machines, program, (now) => now.localUrl !== undefined);
  const { port } = program.runtime.http;
  expect([localUrl, url]).toEqual([`http://vivarium.local:${port}/`, `http://[${IPV6_ADDRESSES.host}]:${port}/`]);
  const asked = device(process.execPath, '-e', askByMulticast(15_000, 'udp6')).trim();
  expect(Buffer.from(asked, 'hex')).toEqual(addressBytes(IPV6_ADDRESSES.host));
  expect(device('curl', '-s', '-H', `Host: vivarium.local:${port}`, String(url))).toContain('/vivarium.mobileconfig');
  const status = (host: string) =>
    device('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', `Host: ${host}`, `${url}v1/openapi.json`);
  expect(['www.happypaws.test', 'demo.vivarium.localhost', 'localhost', '[::1]'].map(status)).toEqual([
    '200',
    '404',
    '404',
    '404',
  ]);
  await program.end();
  expect(device(process.execPath, '-e', askByMulticast(1_000, 'udp6')).trim()).toBe('');
});

/** Queries vivarium.local like a client without a cache, and prints the address in hex, or nothing after a timeout. */
const askByMulticast = (waitMs: number, family: 'udp4' | 'udp6' = 'udp4') => `
const socket = require('node:dgram').createSocket('${family}');
const name = Buffer.from('\\x08vivarium\\x05local\\0', 'latin1');
socket.on('message', (message) => {
  const at = 12 + name.length + 4 + name.length + 10;
  console.log(message.subarray(at, at + ${family === 'udp4' ? 4 : 16}).toString('hex'));
  socket.close();
  clearTimeout(end);
});
socket.send(Buffer.concat([Buffer.of(7, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0), name, Buffer.of(0, ${family === 'udp4' ? 1 : 28}, 0, 1)]), 5353, '${family === 'udp4' ? '224.0.0.251' : 'ff02::fb%dev0'}');
const end = setTimeout(() => socket.close(), ${waitMs});
`;
