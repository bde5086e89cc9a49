import { get } from 'node:https';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demoTest as it } from '../../../support/engine-test.ts';
import { ACCEPTED } from '../../../../main/breaks/catalogue/tls.ts';
import { STANDING_HOSTS } from '../../../../main/breaks/standing-hosts.ts';
import type { BreakClient } from '../../../../main/contract/breaks.ts';
import { launchChromium } from '../../../support/chromium.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { firefoxProfile, startFirefox } from '../../../support/firefox.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { findTool } from '../../../support/tools.ts';
import { run } from '../../../support/command.ts';
import { importInto, makeDatabase } from '../../ca/machine.ts';

/** What real clients report at the hostnames that are always broken; the documentation quotes the catalogue too. */

const CLIENTS_TIMEOUT_MS = 180_000;
const SOURCES = join(import.meta.dirname, '../../../support/tls-clients');

/** Only run by hand: a key that takes half a minute to make, and a wait for the listener's time limit. */
const BY_HAND: ReadonlySet<string> = new Set(['tls.rsa8192', 'tls.handshake-stalls']);
const HOSTS = [...STANDING_HOSTS.values()].filter(({ entry }) => !BY_HAND.has(entry.id));
const HOSTNAMES = HOSTS.map(({ hostname }) => hostname);

/** By hostname: the catalogue's words if the client printed them, or else its whole output. */
function inWords(client: BreakClient, said: ReadonlyMap<string, string>): Record<string, string> {
  const words = HOSTS.map(({ hostname, entry }) => {
    const [all, expected] = [said.get(hostname) ?? 'nothing', entry.symptoms[client]];
    const isSaid = expected?.split(' or ').some((words) => all.includes(words)) === true;
    return [hostname, isSaid ? expected : all] as const;
  });
  return Object.fromEntries(words);
}

const expectedOf = (client: BreakClient): Record<string, string> =>
  Object.fromEntries(HOSTS.map(({ hostname, entry }) => [hostname, entry.symptoms[client] ?? 'an entry without it']));

/** From lines with a hostname, a tab and the message. */
const byHostname = (text: string): Map<string, string> =>
  new Map(text.split('\n').map((line) => line.split('\t', 2) as [string, string]));

const addressOf = ({ app: { runtime } }: Engine): [string, string] => [runtime.caFile, String(runtime.https.port)];

async function program(engine: Engine, command: string, ...args: string[]): Promise<Map<string, string>> {
  return byHostname((await run(command, [...args, ...addressOf(engine), ...HOSTNAMES])).text);
}

/** Whether a program is installed, and prints the expected version. */
async function has(pattern: RegExp, command: string, ...args: string[]): Promise<boolean> {
  return findTool(command) !== null && pattern.test((await run(command, args)).text);
}

test('curl reports what the catalogue says', { timeout: CLIENTS_TIMEOUT_MS }, async ({ skip }) => {
  skip(!(await has(/OpenSSL\/3/, 'curl', '--version')), 'there is no curl with OpenSSL 3');
  const engine = await startEngine();
  const [root, port] = addressOf(engine);
  const said = new Map<string, string>();
  for (const hostname of HOSTNAMES) {
    const to = ['--resolve', `${hostname}:${port}:127.0.0.1`, '--noproxy', '*', `https://${hostname}:${port}/`];
    const { code, text } = await run('curl', ['-sSf', '--cacert', root, ...to]);
    said.set(hostname, code === 0 && text.includes(hostname.split('.', 1)[0] ?? '') ? ACCEPTED : text);
  }
  expect(inWords('curl', said)).toEqual(expectedOf('curl'));
});

it('a broken hostname explains itself over plain HTTP, and does not appear in Traffic', async ({ call, api }) => {
  const at = { host: 'expired.break.vivarium.localhost', path: '/anything?x', key: null };
  const text = await api(at);
  expect([text.status, text.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text.text).toMatch(/^Expired certificate \(tls\.expired\)\. .*\ncurl: curl: \(60\)/);
  expect(text.text).toContain('vivarium break tls.expired HOSTNAME');
  const page = await api({ ...at, headers: { Accept: 'text/html,*/*' } });
  expect(page.text).toContain('<li>Chromium: <code>net::ERR_CERT_DATE_INVALID</code></li>');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect((await api({ ...at, method: 'POST' })).status).toBe(405);
  expect((await api({ ...at, host: 'other.break.vivarium.localhost' })).status).toBe(404);
  expect(await call('traffic.list', {})).toMatchObject({ kept: 1 });
});

/** What Node reports for one request, by `code`. */
const askNode = (port: string, hostname: string, more: object): Promise<string> =>
  new Promise((resolve) => {
    const headers = { Host: hostname };
    get({ host: '127.0.0.1', port, servername: hostname, headers, agent: false, ...more }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode === 200 ? ACCEPTED : String(answer.statusCode)));
    }).on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code} ${error.message}`));
  });

async function pemOf(engine: Engine, path: string): Promise<string> {
  const answer = await fetch(`${engine.app.runtime.control.url}${path}`);
  const octets = Buffer.from(await answer.arrayBuffer()).toString('base64');
  return `-----BEGIN X509 CRL-----\n${octets}\n-----END X509 CRL-----\n`;
}

it('Node reports what the catalogue says, and recognises the revoked certificate by the lists', async ({ engine }) => {
  const { call } = engine;
  const [, port] = addressOf(engine);
  const ca = (await call('ca.get')).pem;
  const said = await Promise.all(
    HOSTNAMES.map(async (hostname) => [hostname, await askNode(port, hostname, { ca })] as const),
  );
  expect(inWords('node', new Map(said))).toEqual(expectedOf('node'));
  const crl = [await pemOf(engine, '/root.crl'), await pemOf(engine, '/intermediate.crl')];
  const file = join(engine.dataDir, 'lists.pem');
  writeFileSync(file, crl.join(''));
  const revoked = `revoked.break.vivarium.localhost:${port}`;
  const to = ['--resolve', `${revoked}:127.0.0.1`, '--cacert', engine.app.runtime.caFile, '--crlfile', file];
  expect((await run('curl', ['-sS', ...to, `https://${revoked}/`])).text).toContain('certificate revoked');
  expect(await askNode(port, 'revoked.break.vivarium.localhost', { ca, crl })).toContain('CERT_REVOKED');
  expect(await askNode(port, 'ecc384.break.vivarium.localhost', { ca, crl })).toBe(ACCEPTED);
});

test('Python reports what the catalogue says', { timeout: CLIENTS_TIMEOUT_MS }, async ({ skip }) => {
  const isUsual = await has(/OpenSSL 3/, 'python3', '-c', 'import ssl; print(ssl.OPENSSL_VERSION)');
  skip(!isUsual, 'there is no Python with OpenSSL 3');
  const said = await program(await startEngine(), 'python3', join(SOURCES, 'ask.py'));
  expect(inWords('python', said)).toEqual(expectedOf('python'));
});

test('Go reports what the catalogue says', { timeout: CLIENTS_TIMEOUT_MS }, async ({ skip }) => {
  skip(!(await has(/go1/, 'go', 'version')), 'there is no Go');
  const binary = join(temporaryFolder(), 'ask');
  expect(await run('go', ['build', '-o', binary, join(SOURCES, 'ask.go')])).toMatchObject({ code: 0 });
  expect(inWords('go', await program(await startEngine(), binary))).toEqual(expectedOf('go'));
});

test('Java reports what the catalogue says', { timeout: CLIENTS_TIMEOUT_MS }, async ({ skip }) => {
  skip(!(await has(/javac/, 'javac', '-version')), 'there is no JDK');
  const said = await program(await startEngine(), 'java', join(SOURCES, 'Ask.java'));
  expect(inWords('java', said)).toEqual(expectedOf('java'));
});

/** The answer arrived, and is not an image. */
const wordsOf = (fault: string): string => (fault === 'net::ERR_BLOCKED_BY_ORB' ? ACCEPTED : fault);

it('Chromium reports what the catalogue says', { timeout: CLIENTS_TIMEOUT_MS }, async ({ engine, call }) => {
  const [, port] = addressOf(engine);
  const home = temporaryFolder();
  const { pem } = await call('ca.get');
  await importInto(await makeDatabase(join(home, '.pki/nssdb')), 'root', pem);
  const browser = await launchChromium({ home });
  const said = new Map<string, string>();
  try {
    const page = await browser.newPage();
    // As parts of one page, which is many times faster than a page for each.
    page.on('requestfailed', (request) =>
      said.set(new URL(request.url()).hostname, wordsOf(request.failure()?.errorText ?? 'nothing')),
    );
    page.on('requestfinished', (request) => said.set(new URL(request.url()).hostname, ACCEPTED));
    const images = HOSTNAMES.map((hostname) => `<img src="https://${hostname}:${port}/">`);
    await page.setContent(images.join('\n'), { waitUntil: 'commit' });
    await expect.poll(() => said.size, { timeout: CLIENTS_TIMEOUT_MS }).toBe(HOSTNAMES.length);
  } finally {
    await browser.close();
  }
  expect(inWords('chromium', said)).toEqual(expectedOf('chromium'));
});

test('Firefox reports what the catalogue says', { timeout: CLIENTS_TIMEOUT_MS }, async ({ skip }) => {
  skip(findTool('firefox-esr') === null, 'there is no firefox-esr');
  const engine = await startEngine();
  const [, port] = addressOf(engine);
  const home = temporaryFolder();
  const { pem } = await engine.call('ca.get');
  await importInto(await makeDatabase(firefoxProfile(home)), 'root', pem);
  const firefox = await startFirefox(home);
  const said = new Map<string, string>();
  try {
    const faults = await firefox.faultsOf(HOSTNAMES.map((hostname) => `https://${hostname}:${port}/`));
    faults.forEach((fault, index) => said.set(HOSTNAMES[index] ?? '', fault ?? ACCEPTED));
  } finally {
    await firefox.quit();
  }
  expect(inWords('firefox', said)).toEqual(expectedOf('firefox'));
});
