import { generateKeyPairSync, hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Answered, Outcome } from '../../../main/acme/outcome.ts';
import { validateDns, validateTls } from '../../../main/acme/validation.ts';
import { validateHttp } from '../../../main/acme/validate-http.ts';
import {
  certificatePem,
  distinguishedName,
  keyPairOf,
  randomSerial,
  signCertificate,
  readChallengeCertificate,
} from '../../../main/ca/certificate.ts';
import { encode, octetString, oid, sequence, yes } from '../../../main/ca/der.ts';
import { EXTENSION } from '../../../main/ca/extensions.ts';
import { generalName, parseLeafName } from '../../../main/ca/names.ts';
import { FAKE_NOW_MS } from '../../support/fake-clock.ts';
import { closedPort, listen } from '../../support/ports.ts';

afterEach(() => void vi.restoreAllMocks());

const TASK = {
  identifier: { type: 'dns', value: 'app.acme.test' },
  wildcard: false,
  accountUri: 'https://localhost:8443/acme/account/anna',
  token: 'tok',
  keyAuthorization: 'tok.thumb',
} as const;
const IP_TASK = { ...TASK, identifier: { type: 'ip', value: '127.0.0.1' } } as const;
const HERE: Answered = { ok: true, values: ['127.0.0.1'] };
const PATH = '/.well-known/acme-challenge/tok';

const verdict = ({ error }: Outcome): string => (error === null ? 'valid' : `${error.type}: ${error.detail}`);

/** Has the server of `open` belong to another user: to "nobody" if this is root, else this process claims to be another. */
async function asAnotherUser<Result>(open: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) {
    vi.spyOn(process, 'getuid').mockReturnValue(1_234);
    return open();
  }
  process.seteuid?.(65_534);
  try {
    return await open();
  } finally {
    process.seteuid?.(0);
  }
}

const onLinux = test.runIf(process.platform === 'linux');

const listening = async (server: ReturnType<typeof createTcpServer>): Promise<number> => (await listen(server)).port;

const serve = (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> =>
  listening(createServer({ keepAlive: false }, answer));

const validate = (
  port: number,
  resolve: () => Promise<Answered> = async () => HERE,
  task: typeof TASK | typeof IP_TASK = TASK,
) => validateHttp(task, { resolve, localPort: () => port, userAgent: 'test', arriving: (_url, got) => got });

const foundOf = (answer: Answered): string => (answer.ok ? answer.values.join(', ') || 'no record' : answer.detail);

const redirect = (to: string, status = 302) =>
  serve(({ url }, response) => {
    if (url === PATH) response.writeHead(status, { Location: to }).end();
    else response.end('tok.thumb\n');
  });

describe('http-01', () => {
  test('requests the token at the hostname, and ignores a line end', async () => {
    const asked: string[] = [];
    const port = await serve((request, response) => {
      asked.push(`${request.headers.host ?? ''}${request.url ?? ''} ${request.headers['user-agent'] ?? ''}`);
      response.end('tok.thumb\r\n');
    });
    const outcome = await validate(port);
    expect(verdict(outcome)).toBe('valid');
    expect(asked).toEqual([`app.acme.test${PATH} test`]);
    expect(outcome.attempts).toEqual([
      { what: 'app.acme.test AAAA and A', found: '127.0.0.1', question: { name: 'app.acme.test', type: 'A' } },
      {
        what: `GET http://app.acme.test${PATH} at 127.0.0.1:${port}`,
        found: String.raw`status 200, 11 bytes: "tok.thumb\r\n"`,
        request: { hostname: 'app.acme.test', path: PATH, port },
      },
    ]);
    expect(verdict(await validate(port, undefined, IP_TASK))).toBe('valid');
  });

  onLinux('is not answered by the server of another user of this machine, nor after a redirect', async () => {
    const [knows, theirs] = await asAnotherUser(async () => [
      await serve((_request, response) => response.end('tok.thumb')),
      await serve((_request, response) => response.end('tok.thumb')),
    ]);
    const refused = /^connection: .*: the server there belongs to another user of this machine\.$/;
    expect(verdict(await validate(knows))).toMatch(refused);
    const own = await serve((_request, response) => response.writeHead(302, { Location: '/there' }).end());
    const ports = [own, theirs];
    const bouncing = { resolve: async () => HERE, localPort: () => ports.shift() ?? 0, userAgent: 'test' };
    expect(verdict(await validateHttp(TASK, { ...bouncing, arriving: (_url, got) => got }))).toMatch(refused);
  });

  test.each([
    ['no server', () => closedPort(), /^connection: .*ECONNREFUSED/],
    [
      'a server that does not know the token',
      () => serve((_request, response) => response.writeHead(404).end()),
      /^unauthorized: .* status 404/,
    ],
    [
      'a server that answers with a page',
      () => serve((_request, response) => response.end('<!doctype html>')),
      /^unauthorized: .*doctype/,
    ],
  ])('fails with %s', async (_what, open, expected) => {
    expect(verdict(await validate(await open()))).toMatch(expected);
  });

  test.each<[string, string, number, RegExp]>([
    ['to another path', '/there', 302, /^valid$/],
    ['to another host, permanently', 'http://www.acme.test/there', 308, /^valid$/],
    ['by 303', '/there', 303, /^unauthorized: .*status 303/],
    ['to another port', 'http://www.acme.test:8080/', 302, /^connection: .*only ports 80 and 443/],
    ['to the other port', 'http://www.acme.test:443/', 302, /^(?!.*only ports)/],
    ['to another scheme', 'ftp://www.acme.test/', 302, /^connection: .*neither HTTP nor HTTPS/],
    ['to itself', PATH, 302, /^connection: .*lead back/],
    ['without a slash', 'http://acme.test.well-known/acme-challenge/tok', 302, /^connection: .*lacks a slash/],
    ['to a long path', `/${'x'.repeat(2_001)}`, 302, /^connection: .*2000 characters/],
    ['to no URL', 'http://[', 302, /^connection: .*not a URL/],
  ])('follows a redirect as Boulder does: %s', async (_what, to, status, expected) => {
    expect(verdict(await validate(await redirect(to, status)))).toMatch(expected);
  });

  test('fails after a chain of redirects', async () => {
    let count = 0;
    const port = await serve((_request, response) => response.writeHead(302, { Location: `/${count++}` }).end());
    expect(verdict(await validate(port))).toMatch(/^connection: There are more than 10 redirects/);
    expect(count).toBe(11);
  });

  test('reads only the beginning of an answer', async () => {
    const port = await serve((_request, response) => {
      response.on('error', () => undefined);
      response.write('x'.repeat(200));
    });
    expect(verdict(await validate(port))).toMatch(/^unauthorized: .*"x{100}…"/);
  });

  test.each<[string, string]>([
    ['garbage', 'hello\r\n\r\n'],
    ['nothing', ''],
  ])('fails if the server sends %s', async (_what, text) => {
    const port = await listening(createTcpServer((socket) => socket.on('error', () => undefined).end(text)));
    expect(verdict(await validate(port))).toMatch(/^connection: GET /);
  });

  test('fails if the server answers before the request, and is gone before its owner is known', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntok.thumb';
    const server = createTcpServer((socket) => socket.on('error', () => undefined).end(answer));
    const port = await listening(server);
    server.once('connection', () => server.close());
    expect(verdict(await validate(port))).toMatch(/^connection: .*the server did not wait for the request\.$/);
  });

  test('fails if the server switches to another protocol', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';
    const port = await listening(
      createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(head))),
    );
    expect(verdict(await validate(port))).toMatch(/^unauthorized: .*status 101/);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['its answer', (response) => response.write('t')],
    ['a head', (response) => response.writeHead(200).flushHeaders()],
    ['nothing at all', () => undefined],
  ])('ends at the validation timeout if the server trickles %s', async (_what, begin) => {
    const time = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(time.signal);
    const port = await serve((_request, response) => {
      response.on('error', () => undefined);
      begin(response);
      // Once the validation has received what there is.
      setImmediate(() => time.abort(new DOMException('', 'TimeoutError')));
    });
    expect(verdict(await validate(port))).toMatch(/^connection: GET .*: no answer in time\./);
  });

  test.each<[string, Answered, RegExp]>([
    ['without an address', { ok: true, values: [] }, /^dns: app.acme.test has neither/],
    ['unresolvable', { ok: false, detail: 'SERVFAIL' }, /^dns: SERVFAIL/],
    [
      'elsewhere',
      { ok: true, values: ['192.0.2.1', '10.0.0.1'] },
      /^connection: .* 192.0.2.1, 10.0.0.1; .*loopback addresses/,
    ],
  ])('does not connect for a name that is %s', async (_what, answer, expected) => {
    const outcome = await validate(1, async () => answer);
    expect(verdict(outcome)).toMatch(expected);
    expect(outcome.attempts).toEqual([
      { what: 'app.acme.test AAAA and A', found: foundOf(answer), question: { name: 'app.acme.test', type: 'A' } },
    ]);
  });
});

describe('dns-01', () => {
  const digest = hash('sha256', TASK.keyAuthorization, 'base64url');
  test.each<[string, Answered, RegExp]>([
    ['the digest among others', { ok: true, values: ['x', digest] }, /^valid$/],
    ['the key authorization itself', { ok: true, values: ['tok.thumb'] }, /^unauthorized: No TXT record/],
    ['no record', { ok: true, values: [] }, /^unauthorized: There is no TXT record at _acme-challenge.app.acme.test/],
    ['no answer', { ok: false, detail: 'SERVFAIL' }, /^dns: SERVFAIL/],
  ])('finds %s', async (_what, answer, expected) => {
    expect(verdict(await validateDns(TASK, async () => answer))).toMatch(expected);
  });
});

describe('tls-alpn-01', () => {
  /** A self-signed certificate with the extension of a challenge (RFC 8737 §3). */
  function challengeCertificate({ name = 'app.acme.test', text = 'tok.thumb', critical = true } = {}) {
    const keys = keyPairOf(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
    const digest = encode(octetString(hash('sha256', text, 'buffer')));
    const der = signCertificate(
      {
        serial: randomSerial(),
        ...{ issuer: distinguishedName({}), subject: distinguishedName({}), point: keys.point },
        ...{ notBeforeMs: FAKE_NOW_MS, notAfterMs: FAKE_NOW_MS + 86_400_000 },
        extensions: [
          sequence(oid(EXTENSION.subjectAltName), octetString(encode(sequence(generalName(parseLeafName(name)))))),
          sequence(oid('1.3.6.1.5.5.7.1.31'), ...(critical ? [yes()] : []), octetString(digest)),
        ],
      },
      keys.privateKey,
    );
    return { cert: certificatePem(der), key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) };
  }

  const serveTls = (options: Parameters<typeof challengeCertificate>[0], protocols = ['acme-tls/1']) => {
    const server = createTlsServer({ ...challengeCertificate(options), ALPNProtocols: protocols }, (socket) => {
      socket.on('error', () => undefined);
    });
    return listening(server);
  };

  const validateAt = (port: number, task: typeof TASK | typeof IP_TASK = TASK) =>
    validateTls(task, { resolve: async () => HERE, port, readCertificate: readChallengeCertificate });

  test.each<[string, Parameters<typeof challengeCertificate>[0], RegExp]>([
    ['for the challenge', {}, /^valid$/],
    ['for another name', { name: 'www.acme.test' }, /^unauthorized: .*for DNS:www.acme.test instead/],
    ['for another challenge', { text: 'other' }, /^unauthorized: .*acmeIdentifier of the certificate does not match/],
    [
      'whose extension is not critical',
      { critical: false },
      /^unauthorized: .*acmeIdentifier of the certificate does not match/,
    ],
  ])('finds a certificate %s', async (_what, options, expected) => {
    const port = await serveTls(options);
    expect(verdict(await validateAt(port))).toMatch(expected);
  });

  onLinux('is not answered by the server of another user of this machine', async () => {
    const port = await asAnotherUser(() => serveTls({}));
    expect(verdict(await validateAt(port))).toMatch(
      /^connection: .*: the server there belongs to another user of this machine\.$/,
    );
  });

  test('finds a certificate for an address', async () => {
    const port = await serveTls({ name: '127.0.0.1' });
    expect(verdict(await validateAt(port, IP_TASK))).toBe('valid');
  });

  test('fails with a server of another protocol, and without a server', async () => {
    expect(verdict(await validateAt(await serveTls({}, ['h2'])))).toMatch(/^connection: /);
    expect(verdict(await validateAt(await closedPort()))).toMatch(/ECONNREFUSED/);
  });
});
