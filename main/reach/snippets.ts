import { originOf } from '../base/text/hostname.ts';
import { asCurl, asHttpie, asPowerShell, posixWord, powerShellString } from '../base/text/shell.ts';
import type { Snippet } from '../contract/reach.ts';
import { pathOf } from './mapped-hostnames.ts';
import { PROGRAMS, type SnippetContext, type SnippetFacts, type SnippetRow } from './language-snippets.ts';

/** A URL of a hostname that answers, with the listener's port, which is omitted if it is the scheme's default. */
export function directUrl(
  { hostname, scheme, leadsTo }: SnippetFacts['address'],
  ports: { http: number; https: number },
): string {
  return `${originOf(scheme, hostname, ports[scheme])}${pathOf({ leadsTo })}`;
}

/**
 * Code that requests one hostname, regardless of this machine's DNS. Runs unchanged, trusts the root in that program
 * only, and reads an API key from `VIVARIUM_KEY`.
 */
export function makeSnippets(facts: SnippetFacts): Snippet[] {
  const { hostname, scheme, leadsTo } = facts.address;
  const secure = scheme === 'https';
  const port = facts.ports[scheme];
  const keyed = leadsTo === 'api';
  const path = keyed ? '/v1/pets?limit=5' : '/';
  const direct = `${originOf(scheme, hostname, port)}${path}`;
  const context: SnippetContext = {
    ...{ ...facts, hostname, secure, port, keyed, direct },
    proxied: `${scheme}://${hostname}${path}`,
    request: (url = direct) => ({ method: 'GET', url, headers: [], body: undefined, authorized: keyed }),
    root: secure ? facts.caFile : undefined,
  };
  return [...COMMANDS, ...PROGRAMS, ...AROUND].map(({ text, note, ...row }) => {
    const said = typeof note === 'function' ? note(context) : note;
    return { ...row, text: text(context), ...(said !== undefined && { note: said }) };
  });
}

/** Commands that send one request. An interactive zsh would run a comment in such a line as a command. */
const COMMANDS: readonly SnippetRow[] = [
  {
    id: 'curl',
    title: 'curl',
    language: 'sh',
    text({ request, hostname, port, proxied, proxyUrl, root: caFile }) {
      const root = caFile === undefined ? [] : [`--cacert ${posixWord(caFile)}`];
      const resolve = `--resolve ${posixWord(`${hostname}:${port}:127.0.0.1`)}`;
      const proxy = `--noproxy '' --proxy ${posixWord(proxyUrl)}`;
      return `${asCurl(request(), [resolve, ...root])}\n\n${asCurl(request(proxied), [proxy, ...root])}\n`;
    },
    note: 'The second command sends the same request through the proxy, to the default port.',
  },
  {
    id: 'httpie',
    title: 'HTTPie',
    language: 'sh',
    text: ({ request, proxied, proxyUrl, root }) => `${asHttpie(request(proxied), { proxyUrl, caFile: root })}\n`,
    note: 'Uses the proxy, because HTTPie has no option for the address of a hostname.',
  },
  {
    id: 'powershell',
    title: 'PowerShell',
    language: 'powershell',
    text({ request, hostname, port, root }) {
      const resolve = `--resolve ${powerShellString(`${hostname}:${port}:127.0.0.1`)}`;
      const trust = root === undefined ? [] : [`--cacert ${powerShellString(root)} --ssl-revoke-best-effort`];
      return `${asPowerShell(request(), [resolve, ...trust])}\n`;
    },
    note: 'curl.exe is part of Windows 10 and 11. In PowerShell on Linux and macOS, use curl instead.',
  },
];

/** Variables of the environment snippet that make programs trust the root. */
export const ROOT_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'] as const;

const PROXY_VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_USE_ENV_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
] as const;

/** The variables that the environment snippet sets and its undo unsets. */
export const ENVIRONMENT_VARIABLES = [...PROXY_VARIABLES, ...ROOT_VARIABLES] as const;

/** What surrounds a request: the environment of any other program, and questions about the name. */
const AROUND: readonly SnippetRow[] = [
  {
    id: 'environment',
    title: 'Environment',
    language: 'sh',
    text({ caFile, proxyUrl }) {
      const valueOf = (name: (typeof PROXY_VARIABLES)[number]): string =>
        name === 'NODE_USE_ENV_PROXY' ? '1' : /^no_/i.test(name) ? '' : proxyUrl;
      return [
        ...PROXY_VARIABLES.map((name) => `export ${name}=${valueOf(name)}\n`),
        ...ROOT_VARIABLES.map((name) => `export ${name}=${posixWord(caFile)}\n`),
      ].join('');
    },
    note: ({ pacUrl }) =>
      'For a program that talks only to Vivarium: the proxy refuses every other hostname. NODE_USE_ENV_PROXY makes ' +
      `fetch in Node 24 use the proxy. For browsers and systems, use ${pacUrl}, which sends only Vivarium’s hostnames through the proxy.`,
  },
  {
    id: 'doh',
    title: 'Secure DNS',
    language: 'sh',
    text({ request, hostname, caFile, dohUrl }) {
      const { hostname: server, port } = new URL(dohUrl);
      const root = posixWord(caFile);
      return `${asCurl(request(), [`--doh-url ${dohUrl} --cacert ${root}`])}

dig @${server} -p ${port} +https +tls-ca=${root} +tls-hostname=${server} ${posixWord(hostname)} HTTPS
`;
    },
    note: ({ dohUrl }) =>
      `In Firefox, enter ${dohUrl} in Settings, Privacy & Security, DNS over HTTPS, Increased Protection, Custom. It then opens ` +
      'hostnames without a port. Chromium ignores the port in the answer, so use the PAC file there. dig must be from BIND 9.18 or newer.',
  },
  {
    id: 'dig',
    title: 'dig',
    language: 'sh',
    text: ({ hostname, ports }) => `dig @127.0.0.1 -p ${ports.dns} ${posixWord(hostname)}\n`,
    note: 'Asks Vivarium’s own DNS server, as verification does. The system’s resolver may answer differently.',
  },
];
