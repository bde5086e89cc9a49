import { mutantsOf } from '../mutant.ts';

export const PROXY = [
  ...mutantsOf('main/proxy/forwarded.ts', ['unit/proxy/forwarded-headers'], {
    'a request through five foreign proxies is answered with 508': '[1] [-=== pseudonym-]{+!== undefined+}',
    'Forwarded is malformed for IPv6 clients (RFC 7239 §6)': 'address[-.includes(\':\') ? `"[${address}]"` : address-]',
    'the upstream does not learn of the proxies before':
      "[-appended(headers['x-forwarded-for'], from.address)-]{+from.address+}",
  }),
  ...mutantsOf('main/proxy/route-table.ts', ['unit/proxy/route-table'], {
    'a connection keeps using the previous dataset': '[- && other.environment === route.environment-]',
    'TLS refuses a hostname that is redirected': 'table.route(hostname) !== undefined[- || redirects.has(hostname)-]',
  }),
  ...mutantsOf('main/base/http/message.ts', ['unit/proxy/forwarded-headers'], {
    'a field of one connection reaches the upstream': 'HOP_BY_HOP.has(name)[- || named.has(name)-]',
    'the upstream learns the credentials for a proxy': "[-  'proxy-authorization',\n-]",
  }),
  ...mutantsOf('main/proxy/front/authority.ts', ['unit/proxy/front/authority'], {
    'a request with uncertain framing is taken (RFC 9112 §6.1)': "if (httpVersion === '[-1.0-]{+0.9+}') return problem",
    'Host in capitals beside :authority is refused':
      'pseudoAuthority[-.toLowerCase() === headers.host.toLowerCase()-]{+ === headers.host+}',
    'a request to a proxy is answered for another host (RFC 9112 §3.2.2)':
      "[-target.form === 'absolute' ? target.authority : (facts.pseudoAuthority ?? facts.headers.host)-]{+facts.pseudoAuthority ?? facts.headers.host ?? (target.form === 'absolute' ? target.authority : null)+}",
  }),
  ...mutantsOf('main/proxy/front/client-hello.ts', ['unit/proxy/front/client-hello'], {
    'the last of two server names wins': '[-    if (names !== null) return MALFORMED;\n-]',
    'a client keeps a handshake open with empty records': '[-if (length === 0) return UNEXPECTED;-]',
    'a client that sends an address as its server name is refused':
      "[-  if (isIP(text) !== 0) return { kind: 'hello', serverName: null };\n-]",
  }),
  ...mutantsOf('main/proxy/front/authority.ts', ['integration/proxy/routing'], {
    'the first of two Authorization fields counts': 'survey.authorizationFields[-++-]{+ = 1+};',
  }),
  ...mutantsOf('main/traffic/series.ts', ['unit/proxy/request-rates'], {
    'the oldest second shows the requests of the running one': 'const length = steps[- + 1-];',
  }),
  ...mutantsOf('main/proxy/answer.ts', ['unit/proxy/answer'], {
    'an API client gets a page': 'weight(ranges, HTML) >{+=+} weight(ranges, JSON_TYPE)',
  }),
  ...mutantsOf('main/base/http/message.ts', ['unit/base/http/message'], {
    'a key after "bearer" is not found': '=*) *$/[-i-];',
  }),
  ...mutantsOf('main/proxy/identify.ts', ['unit/proxy/identify'], {
    'a key opens every project': 'owner?.[-projectId === route.projectId ? owner.keyId :-]{+keyId ??+} null',
  }),
  ...mutantsOf('main/proxy/tunnels/tunnel.ts', ['unit/proxy/tunnels/connect-request'], {
    'a tunnel leads elsewhere than its Host says':
      '[-hostField !== null && parseAuthority(hostField)?.host !== host-]{+false+}',
    'a CONNECT with Content-Length: 0 is refused':
      "[-(/^content-length$/i.test(name) && value !== '0')-]{+/^content-length$/i.test(name)+}",
  }),
  ...mutantsOf('main/proxy/destination.ts', ['integration/proxy/https'], {
    'a request inside TLS for a hostname that is not served is answered with 421':
      'serverName !== host[- && table.knows(host)-]',
  }),
  ...mutantsOf('main/proxy/destination.ts', ['integration/proxy/routing'], {
    "a browser that takes Vivarium for its proxy is redirected to the listener's port":
      '(askedPort ?? [-DEFAULT_PORT[scheme]-]{+listenerPort+}) : listenerPort',
  }),
  ...mutantsOf('main/proxy/front/own-paths.ts', ['integration/proxy/other-address'], {
    'another device reaches what is for this machine only, by its Host':
      "return hosts.has(host) {+|| host === 'localhost' +}?",
  }),
  ...mutantsOf('main/proxy/capture.ts', ['integration/proxy/recorded-heads'], {
    'an answer with a Date of its own fails over HTTP/2': 'this.capture !== null[- && !hasDate(sent)-]',
  }),
];
