import { constants, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { Duplex } from 'node:stream';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { describe, expect, test, beforeEach } from 'vitest';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import {
  buildClientHello,
  extension,
  record,
  records,
  serverNameExtension,
} from '../../support/proxy/proxy-client-hello.ts';
import { curl, run } from '../../support/command.ts';
import {
  answerOn,
  DEFAULT_LEAF,
  DEMO,
  MOVED,
  SHOP,
  STAGING,
  startProxy,
  testSnapshot,
  untilConnections,
  type RunningProxy,
  openHttp2,
  shareProxy,
} from '../../support/proxy/proxy-harness.ts';
import { closed, openSocket, readToEnd, sendRaw } from '../../support/proxy/proxy-raw.ts';

// STAGING is served, and has no certificate.
const certificates = createTestCertificates([DEMO, SHOP, MOVED, DEFAULT_LEAF]);
const running = await shareProxy({ certificates });

const secureCurl = (hostname: string, ...args: string[]) =>
  curl(
    ...['--cacert', certificates.trustFile, '--resolve', `${hostname}:${running.httpsPort}:127.0.0.1`],
    ...args,
    `https://${hostname}:${running.httpsPort}/v1/pets?limit=2`,
  );

function secureSocket(servername: string, ALPNProtocols: string[] = ['http/1.1']): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({
      port: running.httpsPort,
      host: '127.0.0.1',
      ...(servername === '' ? {} : { servername }),
      ALPNProtocols,
      rejectUnauthorized: false,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

const openssl = (...args: string[]) =>
  run('openssl', ['s_client', '-connect', `127.0.0.1:${running.httpsPort}`, ...args]);

describe('TLS', () => {
  test.each([
    ['--http1.1', /^HTTP\/1\.1 200 OK/, '1.1'],
    ['--http2', /^HTTP\/2 200/, '2.0'],
  ])('curl %s verifies the certificate and is served', async (version, line, httpVersion) => {
    const { stdout, stderr } = await secureCurl(DEMO, version);
    expect(stderr).toBe('');
    expect(stdout).toMatch(line);
    expect(JSON.parse(stdout.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      url: '/v1/pets?limit=2',
      hostname: DEMO,
      scheme: 'https',
      origin: `https://${DEMO}:${running.httpsPort}`,
      httpVersion,
    });
  });

  test('is served on ::1 on the same port', async () => {
    const { stdout } = await curl(
      ...['--cacert', certificates.trustFile, '--resolve', `${SHOP}:${running.httpsPort}:[::1]`],
      `https://${SHOP}:${running.httpsPort}/`,
    );
    expect(stdout).toMatch(/^HTTP\/2 200/);
  });

  test.each([
    ['-tls1_2', /Protocol\s*:?\s*TLSv1\.2/],
    ['-tls1_3', /TLSv1\.3/],
  ])('speaks %s', async (version, expected) => {
    expect((await openssl('-servername', DEMO, version)).stdout).toMatch(expected);
  });

  test('does not speak TLS 1.1', async () => {
    const { stdout } = await openssl('-servername', DEMO, '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0');
    expect(stdout).not.toContain('BEGIN CERTIFICATE');
  });

  test.each([
    ['h2,http/1.1', 'ALPN protocol: h2'],
    ['http/1.1', 'ALPN protocol: http/1.1'],
    ['http/1.1,h2', 'ALPN protocol: h2'],
  ])('negotiates by ALPN: of %s chooses %s', async (offered, agreed) => {
    expect((await openssl('-servername', DEMO, '-alpn', offered)).stdout).toContain(agreed);
  });

  test('sends an alert to a client that offers no supported protocol', async () => {
    expect((await openssl('-servername', DEMO, '-alpn', 'smtp')).stderr).toContain('no application protocol');
  });

  test('serves HTTP/1.1 to a client without ALPN', async () => {
    const { stdout } = await secureCurl(DEMO, '--no-alpn');
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('resumes a session', async () => {
    const options = { port: running.httpsPort, host: '127.0.0.1', servername: DEMO, rejectUnauthorized: false };
    const first = tlsConnect(options);
    const session = await new Promise<Buffer>((resolve) => first.once('session', resolve));
    first.destroy();
    const second = tlsConnect({ ...options, session });
    await new Promise((resolve) => second.once('secureConnect', resolve));
    expect(second.isSessionReused()).toBe(true);
    second.destroy();
  });
});

describe('the server name of the handshake', () => {
  test.each(['nope.acme.test', 'x.demo.vivarium.localhost', STAGING])(
    'is refused with unrecognized_name if it is unknown, or without a certificate (%s)',
    async (name) => {
      const { stdout, stderr } = await openssl('-servername', name);
      expect(stderr).toContain('unrecognized name');
      expect(stdout).not.toContain('BEGIN CERTIFICATE');
    },
  );

  test('selects the certificate', async () => {
    const socket = await secureSocket(SHOP);
    expect(socket.getPeerCertificate().subjectaltname).toBe(`DNS:${SHOP}`);
    socket.destroy();
  });

  test('may be absent: the client gets the platform’s own leaf', async () => {
    const { stdout } = await openssl('-noservername');
    const text = await run('openssl', ['x509', '-noout', '-ext', 'subjectAltName'], stdout);
    expect(text.stdout).toContain(`DNS:${DEFAULT_LEAF}`);
  });

  test('may be absent for a request to an address: 404 with what is served', async () => {
    const { stdout } = await curl('--insecure', `https://127.0.0.1:${running.httpsPort}/`);
    expect(stdout).toMatch(/^HTTP\/2 404/);
    expect(stdout).toContain(`https://${DEMO}:${running.httpsPort}`);
  });

  test('may arrive in pieces, and in records of one byte', async () => {
    const message = buildClientHello({ extensions: [serverNameExtension('nope.test')] });
    for (const bytes of [record(message), records(message, 1)]) {
      const socket = await openSocket(running.httpsPort);
      const answer = readToEnd(socket);
      socket.setNoDelay(true);
      for (const byte of bytes.subarray(0, 300)) socket.write(Buffer.from([byte]));
      socket.write(bytes.subarray(300));
      expect(Buffer.from(await answer, 'latin1')).toEqual(Buffer.from('15030300020270', 'hex'));
    }
  });

  const helloFor = (...names: string[]) => record(buildClientHello({ extensions: names.map(serverNameExtension) }));
  test.each([
    ['a hello with server_name twice', helloFor('a.test', 'a.test'), '15030300020232'],
    ['a hello with an unusable name', helloFor('a b'), '15030300020270'],
    ['a ServerHello', record(Buffer.from('0200000400000000', 'hex')), '1503030002020a'],
    ['application data', Buffer.from('170303000100', 'hex'), '1503030002020a'],
    ['a record of 20,000 bytes', Buffer.from('1603014e2001', 'hex'), '15030300020216'],
    ['a record of another version', Buffer.from('16090100050100000100', 'hex'), '15030300020232'],
    ['20,000 bytes of a hello', Buffer.from(`1603014000010000${'00'.repeat(20_000)}`, 'hex'), '15030300020232'],
  ])('%s is refused with an alert', async (_, bytes, alert) => {
    const socket = await openSocket(running.httpsPort);
    const answer = readToEnd(socket);
    socket.write(bytes);
    expect(Buffer.from(await answer, 'latin1').toString('hex')).toBe(alert);
  });

  test('a ClientHello that OpenSSL refuses ends the connection, not the process', async () => {
    const socket = await openSocket(running.httpsPort);
    socket.write(
      record(
        buildClientHello({ extensions: [serverNameExtension(DEMO), extension(43, Buffer.from('020909', 'hex'))] }),
      ),
    );
    await closed(socket);
    expect((await secureCurl(DEMO)).stdout).toMatch(/^HTTP\/2 200/);
  });

  test.each(['', '16', '1603010100'])('a client that disconnects after "%s" leaves nothing behind', async (bytes) => {
    const own = await startProxy({ certificates });
    const socket = await openSocket(own.httpsPort);
    socket.end(Buffer.from(bytes, 'hex'));
    await closed(socket);
    await untilConnections(own, 0);
  });

  test.each([
    ['http/1.1', 'closes TLS'],
    ['http/1.1', 'closes TCP'],
    ['h2', 'closes TLS'],
    ['h2', 'closes TCP'],
  ])('a client of %s that %s after the handshake leaves nothing behind', async (protocol, how) => {
    const own = await startProxy({ certificates });
    const raw = await openSocket(own.httpsPort);
    const socket = tlsConnect({ socket: raw, servername: DEMO, ALPNProtocols: [protocol], rejectUnauthorized: false });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    expect(own.proxy.connections()).toBe(1);
    if (how === 'closes TLS') socket.end();
    else raw.destroy();
    await untilConnections(own, 0);
  });

  test('garbage inside an open TLS connection ends it', async () => {
    const raw = await openSocket(running.httpsPort);
    // A client that never receives the alert, so that the client is not the one to close.
    const client = new Duplex({
      read: () => undefined,
      write: (chunk, _encoding, done) => void raw.write(chunk, done),
    });
    const forward = (chunk: Buffer): void => void client.push(chunk);
    raw.on('data', forward);
    const socket = tlsConnect({ socket: client, servername: DEMO, rejectUnauthorized: false });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    raw.removeListener('data', forward);
    raw.write(Buffer.from('1703030020'.padEnd(74, 'f'), 'hex'));
    await closed(raw);
  });
});

describe('plain HTTP on the HTTPS port', () => {
  test('is answered with 400 and the URL to use', async () => {
    const { stdout } = await curl(
      '--header',
      `Host: ${DEMO}:${running.httpsPort}`,
      `http://127.0.0.1:${running.httpsPort}/v1/pets?x`,
    );
    expect(stdout).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(stdout).toContain(`Use https://${DEMO}:${running.httpsPort}/v1/pets?x instead`);
  });

  test('is answered with a page in a browser', async () => {
    const { stdout } = await curl('--header', 'Accept: text/html', `http://127.0.0.1:${running.httpsPort}/`);
    expect(stdout).toContain('<h1>This port speaks HTTPS</h1>');
  });

  test('is treated as a malformed request if it is neither TLS nor HTTP', async () => {
    expect((await sendRaw(running.httpsPort, '\0\0\0\0\r\n\r\n')).status).toBe(400);
  });
});

describe('the authority inside TLS', () => {
  const asked = async (servername: string, host: string): Promise<string> => {
    const socket = await secureSocket(servername);
    const text = readToEnd(socket);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return (await text).slice(9, 12);
  };

  test.each([
    ['the same name', DEMO, DEMO, '200'],
    ['the same name in capitals', DEMO, DEMO.toUpperCase(), '200'],
    ['another known name', DEMO, SHOP, '421'],
    ['another known name, a redirect', DEMO, MOVED, '421'],
    ['an unknown name', DEMO, 'nope.test', '404'],
    ['a redirect under its own name', MOVED, MOVED, '301'],
    ['a known name without a name in the handshake', '', DEMO, '421'],
  ])('%s', async (_, servername, host, status) => {
    expect(await asked(servername, host)).toBe(status);
  });

  test('a redirect keeps scheme and port', async () => {
    expect((await secureCurl(MOVED)).stdout.toLowerCase()).toContain(
      `location: https://${SHOP}:${running.httpsPort}/v1/pets?limit=2`,
    );
  });
});

describe('HTTP/2', () => {
  let session: ClientHttp2Session;
  beforeEach(() => {
    session = openHttp2(running, { ca: certificates.trusted, rejectUnauthorized: true });
  });

  const ask = (headers: OutgoingHttpHeaders, body = '') =>
    answerOn(session.request(headers, { endStream: false }).end(body));

  test.each<[string, Record<string, string>, number, RegExp]>([
    ['its own name', {}, 200, /"httpVersion":"2.0"/],
    ['another known name', { ':authority': SHOP }, 421, /Open a connection with shop\.acme\.test/],
    ['an unknown name', { ':authority': 'nope.test' }, 404, /No project has the hostname nope\.test/],
    ['a Host that differs from :authority', { ':authority': DEMO, host: SHOP }, 400, /differ/],
    ['a Host in place of :authority', { host: DEMO }, 200, /"hostname":"demo/],
    ['an unreadable :authority', { ':authority': 'a..b' }, 400, /hostname:port/],
    ['the scheme http', { ':scheme': 'http' }, 421, /Send it over http/],
    ['a target with a fragment', { ':path': '/a#b' }, 400, /fragment/],
    ['a target of 9,000 characters', { ':path': `/${'a'.repeat(9000)}` }, 414, /8192/],
    ['OPTIONS *', { ':method': 'OPTIONS', ':path': '*' }, 200, /^$/],
  ])('%s', async (_, headers, status, text) => {
    const answer = await ask({ ':path': '/', ...headers });
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(text);
  });

  test('more than 100 fields are answered with 431', async () => {
    const fields = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, 'y']));
    expect((await ask({ ':path': '/', ...fields })).status).toBe(431);
  });

  test('a body arrives', async () => {
    expect((await ask({ ':method': 'POST', ':path': '/' }, 'x'.repeat(100_000))).text).toContain('"bytes":100000');
  });

  test('CONNECT is refused with an explanation', async () => {
    expect((await ask({ ':method': 'CONNECT', ':authority': 'evil.test:443' })).status).toBe(405);
  });

  test('a stream that the client resets leaves the others alone', async () => {
    const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
    stream.on('error', () => undefined);
    stream.write('abc');
    stream.close(constants.NGHTTP2_CANCEL);
    expect((await ask({ ':path': '/' })).status).toBe(200);
  });
});

describe('a hostname that requires HTTPS', () => {
  const to = (hostname: string, hsts: boolean) => ({ to: hostname, status: 308 as const, secure: true, hsts });
  const startStrict = () => {
    const redirects = new Map([
      [DEMO, to(DEMO, true)],
      [STAGING, to(STAGING, false)],
      [MOVED, to(SHOP, false)],
    ]);
    return startProxy({ certificates, snapshot: testSnapshot({ redirects }), trustedProxies: ['127.0.0.1'] });
  };
  const ask = async ({ httpPort }: RunningProxy, target: string, ...lines: string[]) => {
    const head = [`GET ${target} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n');
    const { status, text } = await sendRaw(httpPort, head);
    return `${status} ${/location: (.*)\r/i.exec(text)?.[1] ?? ''}`.trim();
  };

  test('redirects HTTP to its public HTTPS URL, at the port that belongs to the requested one', async () => {
    const started = await startStrict();
    const { httpPort, httpsPort } = started;
    expect(await ask(started, '/a?b', `Host: ${DEMO}:${httpPort}`)).toBe(`308 https://${DEMO}:${httpsPort}/a?b`);
    expect(await ask(started, '/a?b', `Host: ${DEMO}`)).toBe(`308 https://${DEMO}/a?b`);
    expect(await ask(started, `http://${DEMO}/`, 'Host: x')).toBe(`308 https://${DEMO}/`);
    expect(await ask(started, `http://${MOVED}:${httpPort}/`, 'Host: x')).toBe(`308 https://${SHOP}:${httpsPort}/`);
    expect(await ask(started, '/', `Host: ${DEMO}:9080`)).toBe(`308 https://${DEMO}:${httpsPort}/`);
  });

  test('is served over HTTP without a certificate, for a challenge, and behind a proxy that terminates TLS', async () => {
    const started = await startStrict();
    expect(await ask(started, '/', `Host: ${STAGING}`)).toBe('200');
    expect(await ask(started, '/.well-known/acme-challenge/x', `Host: ${DEMO}`)).toBe('200');
    const forwarded = (scheme: string) => ['X-Forwarded-For: 192.0.2.1', `X-Forwarded-Proto: ${scheme}`];
    expect(await ask(started, '/', `Host: ${DEMO}:8080`, ...forwarded('https'))).toBe('200');
    expect(await ask(started, '/', `Host: ${DEMO}:8080`, ...forwarded('http'))).toBe(`308 https://${DEMO}/`);
  });

  test.each(['--http1.1', '--http2'])('sends Strict-Transport-Security over HTTPS only: curl %s', async (version) => {
    const { httpPort, httpsPort } = await startStrict();
    const head = async (hostname: string) => {
      const at = ['--cacert', certificates.trustFile, '--resolve', `${hostname}:${httpsPort}:127.0.0.1`];
      const { stdout } = await curl(version, ...at, `https://${hostname}:${httpsPort}/`);
      return stdout.split('\r\n\r\n')[0]?.toLowerCase();
    };
    expect(await head(DEMO)).toContain('\r\nstrict-transport-security: max-age=3600');
    expect(await head(SHOP)).not.toContain('strict-transport-security');
    const { text } = await sendRaw(httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\n\r\n`);
    expect(text).not.toMatch(/strict-transport/i);
  });
});
