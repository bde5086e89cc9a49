import { describe, expect, test } from 'vitest';
import { explainUpstreamFault } from '../../../main/proxy/upstream/upstream-problem.ts';

const explain = (url: string, code: string, message = '') =>
  explainUpstreamFault(url, { code, message, timedOut: false }, 60_000).message;

describe('the message for a failed upstream', () => {
  test('does not advise other options of Node', () => {
    expect(
      explain(
        'https://127.0.0.1:3000',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
      ),
    ).toContain('is not trusted (self-signed certificate). Install a trusted one');
  });

  test.each([
    ['EMFILE', 'its process has no file descriptor left'],
    ['ENFILE', 'this machine has no file descriptor left'],
  ])('names the lack of descriptors (%s), which is not the upstream’s fault', (code, what) => {
    expect(explain('http://127.0.0.1:3000', code)).toContain(what);
  });

  test.each(['ETIMEDOUT', 'ECONNECT_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])(
    'says for %s, with 504, that no connection was accepted in time',
    (code) => {
      const fault = { code, message: '', timedOut: false };
      expect(explainUpstreamFault('http://127.0.0.1:3000', fault, 60_000)).toMatchObject({
        status: 504,
        message: expect.stringContaining('did not accept a connection in time') as string,
      });
    },
  );

  test.each(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER'])('says for %s that the upstream speaks no TLS', (code) => {
    expect(explain('https://127.0.0.1:3000', code)).toContain('does not speak TLS as expected');
  });

  test('suspects TLS only if the request was plain and the answer unreadable', () => {
    const hint = 'If it speaks HTTPS';
    expect(explain('http://127.0.0.1:3000', 'ECONNRESET')).toContain(hint);
    expect(explain('http://127.0.0.1:3000', 'HPE_INVALID_CONSTANT', 'Parse Error: Expected HTTP/')).toContain(hint);
    expect(explain('http://127.0.0.1:3000', 'HPE_CR_EXPECTED', 'Parse Error: Missing expected CR')).not.toContain(hint);
    expect(explain('https://127.0.0.1:3000', 'ECONNRESET')).not.toContain(hint);
  });
});
