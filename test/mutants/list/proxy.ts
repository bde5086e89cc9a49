import { mutantsOf } from '../mutant.ts';

export const PROXY = [
  ...mutantsOf('main/proxy/forwarded.ts', ['test/unit/proxy/forwarded-headers.test.ts'], {
    'proxy.any-via-is-a-hop': {
      find: '[1] === pseudonym',
      replace: '[1] !== undefined',
      breaks: 'a request through five foreign proxies is answered with 508',
    },
    'proxy.forwarded-address-without-brackets': {
      find: 'address.includes(\':\') ? `"[${address}]"` : address',
      replace: 'address',
      breaks: 'Forwarded is malformed for IPv6 clients (RFC 7239 §6)',
    },
    'proxy.forwarded-for-is-replaced': {
      find: "appended(headers['x-forwarded-for'], from.address)",
      replace: 'from.address',
      breaks: 'the upstream does not learn of the proxies before',
    },
  }),
  ...mutantsOf('main/proxy/route-table.ts', ['test/unit/proxy/route-table.test.ts'], {
    'proxy.environment-change-keeps-connections': {
      find: ' && other.environment === route.environment',
      replace: '',
      breaks: 'a connection keeps using the previous dataset',
    },
    'proxy.redirect-is-unknown': {
      find: 'table.route(hostname) !== undefined || redirects.has(hostname)',
      replace: 'table.route(hostname) !== undefined',
      breaks: 'TLS refuses a hostname that is redirected',
    },
  }),
  ...mutantsOf('main/base/http/message.ts', ['test/unit/proxy/forwarded-headers.test.ts'], {
    'proxy.fields-named-by-connection-go-on': {
      find: 'HOP_BY_HOP.has(name) || named.has(name)',
      replace: 'HOP_BY_HOP.has(name)',
      breaks: 'a field of one connection reaches the upstream',
    },
    'proxy.proxy-credentials-go-on': {
      find: "  'proxy-authorization',\n",
      replace: '',
      breaks: 'the upstream learns the credentials for a proxy',
    },
  }),
  ...mutantsOf('main/proxy/front/authority.ts', ['test/unit/proxy/front/authority.test.ts'], {
    'proxy.transfer-encoding-in-1.0': {
      find: "if (httpVersion === '1.0') return problem",
      replace: "if (httpVersion === '0.9') return problem",
      breaks: 'a request with uncertain framing is taken (RFC 9112 §6.1)',
    },
    'proxy.authority-compared-with-case': {
      find: 'pseudoAuthority.toLowerCase() === headers.host.toLowerCase()',
      replace: 'pseudoAuthority === headers.host',
      breaks: 'Host in capitals beside :authority is refused',
    },
    'proxy.host-wins-over-the-url': {
      find: "target.form === 'absolute' ? target.authority : (facts.pseudoAuthority ?? facts.headers.host)",
      replace: "facts.pseudoAuthority ?? facts.headers.host ?? (target.form === 'absolute' ? target.authority : null)",
      breaks: 'a request to a proxy is answered for another host (RFC 9112 §3.2.2)',
    },
  }),
  ...mutantsOf('main/proxy/front/client-hello.ts', ['test/unit/proxy/front/client-hello.test.ts'], {
    'proxy.two-server-names': {
      find: '    if (names !== null) return MALFORMED;\n',
      replace: '',
      breaks: 'the last of two server names wins',
    },
    'proxy.empty-record-goes-on': {
      find: 'if (length === 0) return UNEXPECTED;',
      replace: '',
      breaks: 'a client keeps a handshake open with empty records',
    },
    'proxy.address-as-server-name': {
      find: "  if (isIP(text) !== 0) return { kind: 'hello', serverName: null };\n",
      replace: '',
      breaks: 'a client that sends an address as its server name is refused',
    },
  }),
  ...mutantsOf('main/proxy/front/authority.ts', ['test/integration/proxy/routing.test.ts'], {
    'proxy.one-authorization-counts': {
      find: 'survey.authorizationFields++;',
      replace: 'survey.authorizationFields = 1;',
      breaks: 'the first of two Authorization fields counts',
    },
  }),
  ...mutantsOf('main/base/lru.ts', ['test/unit/proxy/request-rates.test.ts'], {
    'proxy.rates-lose-the-running-second': {
      find: 'const length = steps + 1;',
      replace: 'const length = steps;',
      breaks: 'the oldest second shows the requests of the running one',
    },
  }),
  ...mutantsOf('main/proxy/answer.ts', ['test/unit/proxy/answer.test.ts'], {
    'proxy.equal-wishes-mean-html': {
      find: 'weight(ranges, HTML) > weight(ranges, JSON_TYPE)',
      replace: 'weight(ranges, HTML) >= weight(ranges, JSON_TYPE)',
      breaks: 'an API client gets a page',
    },
  }),
  ...mutantsOf('main/base/http/message.ts', ['test/unit/base/http/message.test.ts'], {
    'proxy.bearer-compared-with-case': {
      find: '=*) *$/i;',
      replace: '=*) *$/;',
      breaks: 'a key after "bearer" is not found',
    },
  }),
  ...mutantsOf('main/proxy/identify.ts', ['test/unit/proxy/identify.test.ts'], {
    'proxy.key-of-another-project': {
      find: 'owner?.projectId === route.projectId ? owner.keyId : null',
      replace: 'owner?.keyId ?? null',
      breaks: 'a key opens every project',
    },
  }),
  ...mutantsOf('main/proxy/tunnels/tunnel.ts', ['test/unit/proxy/tunnels/connect-request.test.ts'], {
    'proxy.connect-for-two-hosts': {
      find: 'hostField !== null && parseAuthority(hostField)?.host !== host',
      replace: 'false',
      breaks: 'a tunnel leads elsewhere than its Host says',
    },
    'proxy.length-zero-is-content': {
      find: "(/^content-length$/i.test(name) && value !== '0')",
      replace: '/^content-length$/i.test(name)',
      breaks: 'a CONNECT with Content-Length: 0 is refused',
    },
  }),
  ...mutantsOf('main/proxy/destination.ts', ['test/integration/proxy/https.test.ts'], {
    'proxy.unknown-host-is-not-misdirected': {
      find: 'serverName !== host && table.knows(host)',
      replace: 'serverName !== host',
      breaks: 'a request inside TLS for a hostname that is not served is answered with 421',
    },
  }),
  ...mutantsOf('main/proxy/destination.ts', ['test/integration/proxy/routing.test.ts'], {
    'proxy.redirect-of-a-url-adds-a-port': {
      find: '(askedPort ?? DEFAULT_PORT[scheme]) : listenerPort',
      replace: '(askedPort ?? listenerPort) : listenerPort',
      breaks: "a browser that takes Vivarium for its proxy is redirected to the listener's port",
    },
  }),
  ...mutantsOf('main/proxy/front/own-paths.ts', ['test/integration/proxy/other-address.test.ts'], {
    'proxy.loopback-hosts-for-other-devices': {
      find: 'return hosts.has(host) ?',
      replace: "return hosts.has(host) || host === 'localhost' ?",
      breaks: 'another device reaches what is for this machine only, by its Host',
    },
  }),
  ...mutantsOf('main/proxy/capture.ts', ['test/integration/proxy/recorded-heads.test.ts'], {
    'proxy.second-date': {
      find: 'this.capture !== null && !hasDate(sent)',
      replace: 'this.capture !== null',
      breaks: 'an answer with a Date of its own fails over HTTP/2',
    },
  }),
];
