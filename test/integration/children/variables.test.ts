import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { openChildren } from '../../../main/children/children.ts';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { sendRaw } from '../../support/proxy/proxy-raw.ts';
import { writeProgram } from '../../support/documents/pasted-documents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A certificate in PEM by name. */
function certificatesOf(...names: string[]): string[] {
  return names.map((name) => {
    const certificates = createTestCertificates([name]);
    return certificates.trusted.trim();
  });
}

async function open(root: string, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const caFile = join(temporaryFolder(), 'root.pem');
  writeFileSync(caFile, root);
  const children = await openChildren({ enginePort: () => null, caFile, folder, env });
  track(children.close);
  return { ...children, folder, caFile, read: (name: string) => readFileSync(children.variables[name] ?? '', 'utf8') };
}

const REPLACING = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'AWS_CA_BUNDLE'];

test('the files have the root, the roots of the system and those of before, each once, and are private', async () => {
  const [root = '', company = '', other = ''] = certificatesOf('root.test', 'company.test', 'other.test');
  const [bundle, extra] = [join(temporaryFolder(), 'company.pem'), join(temporaryFolder(), 'extra.pem')];
  writeFileSync(bundle, `# Our company\n${company}\n${company}\n`);
  writeFileSync(extra, `${other}\n${root}`);
  const env = { REQUESTS_CA_BUNDLE: bundle, NODE_EXTRA_CA_CERTS: extra, GIT_SSL_CAINFO: '/not/there.pem' };
  const { read, variables, folder } = await open(root, env);
  expect(read('NODE_EXTRA_CA_CERTS')).toBe(`${root}\n${other}\n`);
  expect(new Set(REPLACING.map((name) => variables[name])).size).toBe(1);
  const all = read('SSL_CERT_FILE').split('-----BEGIN CERTIFICATE-----\n').slice(1);
  expect(new Set(all).size).toBe(all.length);
  for (const certificate of [root, company, other]) expect(read('SSL_CERT_FILE')).toContain(certificate);
  const names = all.map((text) => new X509Certificate(`-----BEGIN CERTIFICATE-----\n${text}`).subject);
  expect(names.filter((name) => name.includes('ISRG Root X1')).length).toBe(1);
  expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual([
    'extra.pem',
    'php',
    join('php', 'vivarium.ini'),
    'roots.pem',
  ]);
  for (const name of ['extra.pem', 'roots.pem']) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});

test('the files follow the root, and keep the last one while there is none', async () => {
  const [first = '', second = ''] = certificatesOf('first.test', 'second.test');
  const { read, caFile } = await open(first);
  rmSync(caFile);
  writeFileSync(caFile, second);
  await expect.poll(() => read('NODE_EXTRA_CA_CERTS')).toBe(`${second}\n`);
  expect(read('CURL_CA_BUNDLE')).toContain(second);
  expect(read('CURL_CA_BUNDLE')).not.toContain(first);
  rmSync(caFile);
  expect(read('NODE_EXTRA_CA_CERTS')).toBe(`${second}\n`);
});

test('NO_PROXY has what it had and the loopback addresses, but not localhost, which covers all names below it', async () => {
  const [root = ''] = certificatesOf('root.test');
  const { variables } = await open(root, { no_proxy: 'localhost, 10.0.0.0/8 .localhost 127.0.0.1,.corp' });
  expect(variables['NO_PROXY']).toBe('127.0.0.1,::1,[::1],10.0.0.0/8,.corp');
  const proxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
  for (const name of proxied) expect(variables[name.toLowerCase()]).toBe(variables[name]);
  expect(variables['NODE_USE_ENV_PROXY']).toBe('1');
});

test('further settings of PHP come after those that are read already', async () => {
  const [root = ''] = certificatesOf('root.test');
  const plain = await open(root);
  expect(plain.variables['PHP_INI_SCAN_DIR']).toBe(`${delimiter}${join(plain.folder, 'php')}`);
  const given = await open(root, { PHP_INI_SCAN_DIR: '/etc/one' });
  expect(given.variables['PHP_INI_SCAN_DIR']).toBe(`/etc/one${delimiter}${join(given.folder, 'php')}`);
});

test.skipIf(process.platform === 'win32').each([
  ['v20.20.2', 1],
  ['v22.20.0', 1],
  ['v22.21.0', 0],
  ['v23.11.1', 1],
  ['v24.4.1', 1],
  ['v24.5.0', 0],
  ['v25.0.0', 0],
])('a command with Node %s is reported if that does not use a proxy, once', async (version, times) => {
  const [root = ''] = certificatesOf('root.test');
  const [PATH, caFile] = [temporaryFolder(), join(temporaryFolder(), 'root.pem')];
  writeProgram(PATH, 'node', `echo ${version}`);
  writeFileSync(caFile, root);
  const said: string[] = [];
  const options = { enginePort: () => null, caFile, folder: temporaryFolder(), env: {} };
  const children = await openChildren({ ...options, report: (message) => said.push(message) });
  track(children.close);
  await children.check(['python3', 'node.py'], { PATH });
  await children.check(['npm', 'test'], { PATH: '/nowhere' });
  expect(said).toEqual([]);
  for (const command of [['npm', 'test'], [join(PATH, 'node')], ['/bin/sh', '-c', 'cd app && npx tsx app.ts']]) {
    await children.check(command, { PATH });
  }
  expect(said).toHaveLength(times);
  for (const message of said) expect(message).toContain(`The command’s Node ${version} does not use a proxy`);
});

test.skipIf(process.platform === 'win32')(
  'a Node that would reach the real host of a provider is not started',
  async () => {
    const [PATH, caFile] = [temporaryFolder(), join(temporaryFolder(), 'root.pem')];
    writeProgram(PATH, 'node', 'echo v20.20.2');
    writeFileSync(caFile, certificatesOf('root.test')[0] ?? '');
    const said: string[] = [];
    const provider = {
      ...{ provider: 'vercel' as const, hosts: ['api.vercel.com'], proxyUrl: 'http://provider:TOKEN@127.0.0.1:1' },
      ...{ caFile, variables: {}, unset: [] },
    };
    const children = await openChildren({
      ...{ enginePort: () => null, caFile, folder: temporaryFolder(), env: {}, providers: [provider] },
      report: (message) => said.push(message),
    });
    track(children.close);
    await expect(children.check(['npm', 'start'], { PATH })).rejects.toThrow('would reach the real api.vercel.com');
    expect(said).toEqual([]);
    // It may start Node or not.
    await children.check(['sh', 'start.sh'], { PATH });
    expect(said).toEqual([expect.stringContaining('Node v20.20.2 does not use a proxy')]);
  },
);

test('a browser that the proxy refused is reported, once', async () => {
  const [root = ''] = certificatesOf('root.test');
  const caFile = join(temporaryFolder(), 'root.pem');
  writeFileSync(caFile, root);
  const said: string[] = [];
  const options = { enginePort: () => null, caFile, folder: temporaryFolder(), env: {} };
  const children = await openChildren({ ...options, report: (message) => said.push(message) });
  track(children.close);
  const port = Number(new URL(children.variables['HTTPS_PROXY'] ?? '').port);
  const asking = 'CONNECT app.acme.test:443 HTTP/1.1\r\nHost: x\r\nUser-Agent: Mozilla/5.0\r\n\r\n';
  for (const _time of [1, 2]) expect((await sendRaw(port, asking)).status).toBe(407);
  expect(said).toEqual([
    expect.stringMatching(/^A browser that the command started was refused .* without HTTP_PROXY/),
  ]);
});
