/** `node node-client.mjs CLIENT BASE KEY`: the same requests by one library, which repeats them by its own rules. */
import dns from 'node:dns';
import { setTimeout as pause } from 'node:timers/promises';
import { Octokit } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import axios from 'axios';
import axiosRetry, { exponentialDelay } from 'axios-retry';
import got from 'got';
import ky from 'ky';
import { Agent, fetch as undiciFetch, RetryAgent } from 'undici';

const { lookup } = dns;
dns.lookup = (_host, options, done) => lookup('127.0.0.1', options, done);

const [client = '', base = '', key = ''] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const isWell = (status) => status < 429;

async function loop(path, method, waitMs, triesMax) {
  for (let tries = 0; tries < triesMax; tries++) {
    const answer = await fetch(base + path, { method, headers });
    await answer.arrayBuffer();
    if (isWell(answer.status)) return;
    await pause(waitMs(answer, tries));
  }
}

const polite = (answer, tries) => {
  const seconds = Number(answer.headers.get('retry-after') ?? 0.2 * 2 ** tries);
  return seconds * 1_000 * (1 + Math.random() / 5);
};

const axiosClient = axios.create({ baseURL: base, headers });
axiosRetry(axiosClient, { retries: 3, retryDelay: exponentialDelay });
const agent = new RetryAgent(new Agent());
const octokitOf = (...plugins) =>
  new (Octokit.plugin(...plugins))({
    baseUrl: base,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    throttle: {
      onRateLimit: (_after, _options, _octokit, count) => count < 3,
      onSecondaryRateLimit: (_after, _options, _octokit, count) => count < 3,
    },
  });
const octokit = client.startsWith('octokit')
  ? octokitOf(client === 'octokit-retry' ? retry : throttling, ...(client === 'octokit-retry' ? [] : [retry]))
  : null;

const CLIENTS = {
  'loop-without-wait': (path, method) => loop(path, method, () => 0, 9),
  'loop-200-ms': (path, method) => loop(path, method, () => 200, 9),
  polite: (path, method) => (method === 'GET' ? loop(path, method, polite, 5) : loop(path, method, polite, 1)),
  got: (path, method) => got(base + path, { method, headers }),
  ky: (path, method) => ky(base + path, { method, headers }),
  'undici-retry-agent': async (path, method) =>
    (await undiciFetch(base + path, { method, headers, dispatcher: agent })).arrayBuffer(),
  'axios-retry': (path, method) => axiosClient.request({ url: path, method }),
  'octokit-retry': (path, method) => octokit.request({ method, url: path, headers }),
  'octokit-throttling': (path, method) => octokit.request({ method, url: path, headers }),
};

for (const [method, path] of JSON.parse(process.env.REQUESTS ?? '[]')) {
  await CLIENTS[client](path, method).catch(() => undefined);
}
process.exit(0);
