import { expect, it } from 'vitest';
import { evaluateConnect, type ConnectFacts, type ProviderPlace } from '../../../../main/proxy/tunnels/tunnel.ts';
import { loopbackPlace } from '../../../../main/proxy/front/own-paths.ts';
import { EMPTY_SNAPSHOT, providerRoute } from '../../../../main/model/route.ts';
import { surveyHeaders } from '../../../../main/proxy/front/authority.ts';
import { buildRouteTable } from '../../../../main/proxy/route-table.ts';

const SHOP = 'shop.acme.test';
const IDN = 'xn--bcher-kva.example';
const API = 'api.vercel.com';

const table = () => buildRouteTable(EMPTY_SNAPSHOT);

/** A connection to a provider: only its host, with certificates of its own. */
const provider: ProviderPlace = {
  own: loopbackPlace(new Map()),
  table: () => buildRouteTable({ ...EMPTY_SNAPSHOT, routes: [providerRoute(API, 'vercel')] }),
  contextFor: () => null,
};
const PLACES: Record<string, ProviderPlace | undefined> = { 'Basic known': provider };

interface More {
  version?: string;
  fields?: string[];
  scheme?: 'http' | 'https';
  tunnel?: boolean;
}

const connect = (target: string, { version = '1.1', fields, scheme = 'http', tunnel = false }: More = {}) => {
  const rawHeaders = fields ?? ['Host', target];
  const facts: ConnectFacts = {
    ...{ target, httpVersion: version, rawHeaders, headers: surveyHeaders(rawHeaders) },
    connection: {
      listener: { scheme, port: 8080, own: loopbackPlace(new Map()), table },
      ...{ address: '127.0.0.1', plainHttpOnTls: false, tunnel },
    },
    limits: { headerFieldsMax: 10, targetLengthMax: 100 },
  };
  const verdict = evaluateConnect(facts, {
    ports: { http: 8080, https: 8443 },
    knows: (hostname) => hostname === SHOP || hostname === IDN,
    providerPlace: (authorization) => (authorization === undefined ? null : (PLACES[authorization] ?? 'refused')),
  });
  return verdict.ok ? `${verdict.scheme} as ${verdict.port}` : `${verdict.problem.status} ${verdict.problem.heading}`;
};

const asProvider = (target: string, authorization = 'Basic known') =>
  connect(target, { fields: ['Host', target, 'Proxy-Authorization', authorization] });
const toShop = (...fields: string[]) => connect(`${SHOP}:443`, { fields });

it.each<[what: string, outcome: string, expected: string]>([
  ['the port of HTTPS', connect(`${SHOP}:443`), 'https as 443'],
  ['the port of HTTP', connect(`${SHOP}:80`), 'http as 80'],
  ['our HTTPS port', connect(`${SHOP}:8443`), 'https as 8443'],
  ['our HTTP port', connect(`${SHOP}:8080`), 'http as 8080'],
  ['capitals and a trailing dot', connect('SHOP.Acme.Test.:443'), 'https as 443'],
  ['an IDN by its A-label', connect(`${IDN}:443`), 'https as 443'],
  ['Host without the port, as Java sends it', toShop('Host', SHOP), 'https as 443'],
  ['HTTP/1.0 without Host, as Python sent it', connect(`${SHOP}:443`, { version: '1.0', fields: [] }), 'https as 443'],
  ['a length of none', toShop('Host', SHOP, 'Content-Length', '0'), 'https as 443'],

  ['a provider’s host with the token of a connection', asProvider(`${API}:443`), 'https as 443'],
  ['the same in capitals', asProvider('API.Vercel.com.:443'), 'https as 443'],
  ['a provider’s host over HTTP', asProvider(`${API}:80`), '403 This proxy does not forward to port 80'],
  ['a provider’s host on another port', asProvider(`${API}:8443`), '403 This proxy does not forward to port 8443'],
  ['a foreign host with the token', asProvider('evil.test:443'), '403 This proxy does not forward to evil.test:443'],
  ['a name under the provider’s host', asProvider(`x.${API}:443`), `403 This proxy does not forward to x.${API}:443`],
  ['our hostname with the token', asProvider(`${SHOP}:443`), 'https as 443'],
  ['a provider’s host without a token', connect(`${API}:443`), `403 This proxy does not forward to ${API}:443`],
  ['a wrong token, before the target is read', asProvider('no target', 'Basic wrong'), '407 No such connection'],

  ['a hostname that is not served', connect('evil.test:443'), '403 This proxy does not forward to evil.test:443'],
  ['a name under one', connect(`x.${SHOP}:443`), `403 This proxy does not forward to x.${SHOP}:443`],
  ['localhost', connect('localhost:443'), '403 This proxy does not forward to localhost:443'],
  ['an IPv4 address', connect('127.0.0.1:443'), '403 This proxy does not forward to 127.0.0.1:443'],
  ['an IPv4 address as a number', connect('2130706433:443'), '403 This proxy does not forward to 2130706433:443'],
  ['an IPv6 address', connect('[::1]:443'), '403 This proxy does not forward to [::1]:443'],
  ['another port', connect(`${SHOP}:22`), '403 This proxy does not forward to port 22'],
  ['the control port', connect(`${SHOP}:4780`), '403 This proxy does not forward to port 4780'],
  ['port 0', connect(`${SHOP}:0`), '403 This proxy does not forward to port 0'],

  ['no port', connect(SHOP), '400 Unreadable CONNECT'],
  ['an empty port', connect(`${SHOP}:`), '400 Unreadable CONNECT'],
  ['a port beyond all ports', connect(`${SHOP}:65536`), '400 Unreadable CONNECT'],
  ['user information', connect(`${SHOP}:443@evil.test:443`), '400 Unreadable CONNECT'],
  ['a user before the host', connect(`user@${SHOP}:443`), '400 Unreadable CONNECT'],
  ['two dots at the end', connect(`${SHOP}..:443`), '400 Unreadable CONNECT'],
  ['a percent-encoded dot', connect('shop%2eacme.test:443'), '400 Unreadable CONNECT'],
  ['an IDN as it is written', connect('bücher.example:443'), '400 Unreadable CONNECT'],
  ['an IPv6 zone', connect('[fe80::1%25lo]:443'), '400 Unreadable CONNECT'],

  ['another host in Host', toShop('Host', 'evil.test:443'), '400 Conflicting hosts'],
  ['two Hosts', toShop('Host', SHOP, 'host', SHOP), '400 More than one Host'],
  ['no Host', toShop(), '400 No Host'],
  ['a length', toShop('Host', SHOP, 'Content-Length', '5'), '400 CONNECT with content'],
  ['chunks', toShop('Host', SHOP, 'Transfer-Encoding', 'x'), '400 CONNECT with content'],
  ['too many fields', toShop(...Array<string>(30).fill('x')), '431 Too many header fields'],
  ['a target too long', connect(`${'a'.repeat(120)}:443`), '414 The URL is too long'],
  ['TLS around it', connect(`${SHOP}:443`, { scheme: 'https' }), '405 Not a tunnel'],
  ['a tunnel around it', connect(`${SHOP}:443`, { tunnel: true }), '405 Not a tunnel'],
])('CONNECT with %s', (_, outcome, expected) => {
  expect(outcome).toBe(expected);
});
