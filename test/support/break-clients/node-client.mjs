// Sends requests by fetch, http or http2, all at once, and prints for each what a program sees. See `break-clients.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import dns from 'node:dns';
import { request } from 'node:http';
import { connect } from 'node:http2';

const { jobs, ca } = JSON.parse(readFileSync(0, 'utf8'));

// Every hostname leads here, including those that a redirect names.
dns.lookup = (_hostname, options, callback) =>
  typeof options === 'object' && options.all
    ? callback(null, [{ address: '127.0.0.1', family: 4 }])
    : (callback ?? options)(null, '127.0.0.1', 4);

async function byFetch({ url, headers, timeoutMs }) {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
  const text = JSON.stringify(await response.json());
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
}

const byHttp = ({ url, headers, timeoutMs }) =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers, signal: AbortSignal.timeout(timeoutMs), agent: false }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        try {
          const body = Buffer.concat(chunks).toString();
          const text = body === '' ? '' : JSON.stringify(JSON.parse(body));
          resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'] ?? null, text });
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('error', reject);
    sent.end();
  });

const byHttp2 = ({ url, headers, twice }) =>
  new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    const session = connect(origin, { ca });
    session.on('error', reject);
    const send = () => {
      const stream = session.request({ ':path': pathname + search, ...headers });
      const found = { status: 0, retryAfter: null, text: '' };
      stream.on('response', (fields) => (found.status = fields[':status']));
      stream.setEncoding('utf8');
      stream.on('data', (text) => (found.text += text));
      return new Promise((done, fail) =>
        stream
          .on('error', fail)
          .on('end', () => done(found))
          .end(),
      );
    };
    const all = twice ? [send(), send()] : [send()];
    Promise.all(all)
      .then(([found]) => resolve(found), reject)
      .finally(() => session.destroy());
  });

const WAYS = { fetch: byFetch, http: byHttp, http2: byHttp2 };

function said(error) {
  const cause = error.cause ?? null;
  const own = [error.code, error.message].filter((part) => typeof part === 'string').join(' ');
  return cause === null ? own : `${error.message}: ${[cause.code, cause.message].filter(Boolean).join(' ')}`;
}

const results = await Promise.all(
  jobs.map((job) =>
    WAYS[job.way](job).then(
      (found) => ({ ...found, error: null }),
      (error) => ({ status: 0, retryAfter: null, text: '', error: said(error) }),
    ),
  ),
);
writeFileSync(1, JSON.stringify(results));
process.exit();
