import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { renderPac } from '../../../main/reach/mapped-hostnames.ts';

const PAC = renderPac(['shop.acme.test', 'xn--bcher-kva.example', 'acme.test'], '127.0.0.1:8080');

const ask = (pac: string, host: string, url = `https://${host}/`): unknown =>
  runInNewContext(`${pac}\nFindProxyForURL(${JSON.stringify(url)}, ${JSON.stringify(host)})`, {});

it.each<[host: string, answer: string]>([
  ['shop.acme.test', 'PROXY 127.0.0.1:8080'],
  ['acme.test', 'PROXY 127.0.0.1:8080'],
  ['SHOP.Acme.Test', 'PROXY 127.0.0.1:8080'],
  ['shop.acme.test.', 'PROXY 127.0.0.1:8080'],
  ['xn--bcher-kva.example', 'PROXY 127.0.0.1:8080'],
  ['x.shop.acme.test', 'DIRECT'],
  ['hop.acme.test', 'DIRECT'],
  ['test', 'DIRECT'],
  ['example.com', 'DIRECT'],
  ['127.0.0.1', 'DIRECT'],
  ['', 'DIRECT'],
  ['__proto__', 'DIRECT'],
  ['constructor', 'DIRECT'],
  ['hasownproperty', 'DIRECT'],
])('the PAC file sends %j to %s', (host, answer) => {
  expect(ask(PAC, host)).toBe(answer);
});

it('the PAC file bypasses the proxy when nothing is served', () => {
  expect(ask(renderPac([], '127.0.0.1:8080'), 'shop.acme.test')).toBe('DIRECT');
  const wild = renderPac(['*.acme.test'], '127.0.0.1:8080');
  expect(ask(wild, 'any.acme.test')).toBe('PROXY 127.0.0.1:8080');
  expect(['acme.test', 'a.any.acme.test', 'acme'].map((host) => ask(wild, host))).toEqual(Array(3).fill('DIRECT'));
});

it('the PAC file is the JavaScript of 1999: no const, no arrow, no trailing comma', () => {
  expect(PAC).not.toMatch(/\b(const|let)\b|=>|,\s*\}|`/);
});
