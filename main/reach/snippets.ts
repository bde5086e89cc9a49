import { originOf } from '../base/text/hostname.ts';
import { asCurl, asHttpie, asPowerShell } from '../base/text/request-shell.ts';
import { posixWord, powerShellString } from '../base/text/shell.ts';
import type { Snippet } from '../contract/reach.ts';
import { languageSnippets } from './language-snippets.ts';
import { requestOf, rootOf, type SnippetContext, type SnippetFacts, snippetContext } from './snippet-context.ts';

/** The URL of a hostname with the listener's port, which is omitted if it is the scheme's default. */
export function directUrl(
  { hostname, scheme, leadsTo }: SnippetFacts['address'],
  ports: { http: number; https: number },
): string {
  return `${originOf(scheme, hostname, ports[scheme])}${leadsTo === 'api' ? '/v1' : '/'}`;
}

/**
 * Code that requests one hostname, regardless of this machine's DNS. Runs unchanged, trusts the root in that program
 * only, and reads an API key from `VIVARIUM_KEY`.
 */
export function makeSnippets(facts: SnippetFacts): Snippet[] {
  const context = snippetContext(facts);
  return [
    curl(context),
    httpie(context),
    powershell(context),
    node(context),
    requests(context),
    urllib(context),
    java(context),
    ...languageSnippets(context),
    playwright(context),
    environment(context),
    doh(context),
    dig(context),
  ];
}

/** A string literal that is valid in JavaScript, Python and Java. */
const text = (value: string): string => JSON.stringify(value);

function curl(context: SnippetContext): Snippet {
  const { address, direct, proxied, port, proxyUrl } = context;
  const caFile = rootOf(context);
  const root = caFile === undefined ? [] : [`--cacert ${posixWord(caFile)}`];
  const resolve = `--resolve ${posixWord(`${address.hostname}:${port}:127.0.0.1`)}`;
  return {
    id: 'curl',
    title: 'curl',
    language: 'sh',
    // No comments in shell lines: an interactive zsh would run them as commands.
    text: `${asCurl(requestOf(direct, context), [resolve, ...root])}

${asCurl(requestOf(proxied, context), [`--noproxy '' --proxy ${posixWord(proxyUrl)}`, ...root])}
`,
    note: 'The second command sends the same request through the proxy, to the default port.',
  };
}

const httpie = (context: SnippetContext): Snippet => ({
  id: 'httpie',
  title: 'HTTPie',
  language: 'sh',
  text: `${asHttpie(requestOf(context.proxied, context), { proxyUrl: context.proxyUrl, caFile: rootOf(context) })}\n`,
  note: 'Uses the proxy, because HTTPie has no option for the address of a hostname.',
});

function powershell(context: SnippetContext): Snippet {
  const { address, direct, port } = context;
  const caFile = rootOf(context);
  const options = [
    `--resolve ${powerShellString(`${address.hostname}:${port}:127.0.0.1`)}`,
    ...(caFile === undefined ? [] : [`--cacert ${powerShellString(caFile)} --ssl-revoke-best-effort`]),
  ];
  return {
    id: 'powershell',
    title: 'PowerShell',
    language: 'powershell',
    text: `${asPowerShell(requestOf(direct, context), options)}\n`,
    note: 'curl.exe is part of Windows 10 and 11. In PowerShell on Linux and macOS, use curl instead.',
  };
}

function node({ secure, direct, caFile, keyed }: SnippetContext): Snippet {
  const headers = keyed ? '\n    headers: { Authorization: `Bearer ${process.env.VIVARIUM_KEY}` },' : '';
  return {
    id: 'node',
    title: 'Node',
    language: 'js',
    text: `${secure ? "import { readFileSync } from 'node:fs';\n" : ''}import { get } from 'node:${secure ? 'https' : 'http'}';

get(
  ${text(direct)},
  {
    // Replaces the DNS lookup
    lookup: (_hostname, { all }, done) =>
      all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),${
        secure ? `\n    ca: readFileSync(${text(caFile)}),` : ''
      }${headers}
  },
  (response) => response.pipe(process.stdout),
);
`,
    note: 'Save it as reach.mjs. fetch has no option for an address or a root: for fetch, see Environment.',
  };
}

const pythonKey = '{"Authorization": f"Bearer {os.environ[\'VIVARIUM_KEY\']}"}';

function requests({ secure, proxied, caFile, keyed, proxyUrl }: SnippetContext): Snippet {
  return {
    id: 'requests',
    title: 'Python requests',
    language: 'python',
    text: `${keyed ? 'import os\n\n' : ''}import requests

response = requests.get(
    ${text(proxied)},
    proxies={"http": ${text(proxyUrl)}, "https": ${text(proxyUrl)}},${secure ? `\n    verify=${text(caFile)},` : ''}${
      keyed ? `\n    headers=${pythonKey},` : ''
    }
)
print(response.text)
`,
  };
}

function urllib({ secure, proxied, caFile, keyed, proxyUrl }: SnippetContext): Snippet {
  const modules = [...(keyed ? ['os'] : []), ...(secure ? ['ssl'] : []), 'urllib.request'];
  return {
    id: 'urllib',
    title: 'Python urllib',
    language: 'python',
    text: `${modules.map((module) => `import ${module}\n`).join('')}
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({"http": ${text(proxyUrl)}, "https": ${text(proxyUrl)}}),${
      secure ? `\n    urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=${text(caFile)})),` : ''
    }
)
request = urllib.request.Request(${text(proxied)}${keyed ? `, headers=${pythonKey}` : ''})
print(opener.open(request).read().decode())
`,
  };
}

function java({ secure, proxied, caFile, keyed, proxyUrl }: SnippetContext): Snippet {
  const { hostname, port } = new URL(proxyUrl);
  const trust = `
    var root = CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(${text(caFile)}));
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry("vivarium", root);
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    var tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
`;
  const imports = secure
    ? [
        'java.io.FileInputStream',
        'java.net.*',
        'java.net.http.*',
        'java.security.KeyStore',
        'java.security.cert.CertificateFactory',
        'javax.net.ssl.*',
      ]
    : ['java.net.*', 'java.net.http.*'];
  return {
    id: 'java',
    title: 'Java',
    language: 'java',
    text: `${imports.map((name) => `import ${name};\n`).join('')}
public class Reach {
  public static void main(String[] arguments) throws Exception {${secure ? trust : ''}
    var client = HttpClient.newBuilder()
        .proxy(ProxySelector.of(new InetSocketAddress("${hostname}", ${port})))${secure ? '\n        .sslContext(tls)' : ''}
        .build();
    var request = HttpRequest.newBuilder(URI.create(${text(proxied)}))${
      keyed ? '\n        .header("Authorization", "Bearer " + System.getenv("VIVARIUM_KEY"))' : ''
    }
        .build();
    System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
  }
}
`,
    note: 'Java 11 or newer: java Reach.java',
  };
}

function playwright({ secure, proxied, keyed, proxyUrl }: SnippetContext): Snippet {
  const context = [
    ...(secure ? ['  ignoreHTTPSErrors: true,'] : []),
    ...(keyed ? ['  extraHTTPHeaders: { Authorization: `Bearer ${process.env.VIVARIUM_KEY}` },'] : []),
  ];
  return {
    id: 'playwright',
    title: 'Playwright',
    language: 'js',
    text: `import { chromium } from 'playwright';

const browser = await chromium.launch({ proxy: { server: ${text(proxyUrl)} } });
const page = await browser.newPage(${context.length === 0 ? '' : `{\n${context.join('\n')}\n}`});
await page.goto(${text(proxied)});
console.log(await page.textContent('body'));
await browser.close();
`,
    ...(secure && {
      note: 'Playwright has no option for a page’s root. Ignoring HTTPS errors is safe here, because the proxy connects only to this Vivarium.',
    }),
  };
}

/** Variables of the environment snippet that make programs trust the root. */
export const ROOT_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'] as const;

/** The variables that the environment snippet sets and its undo unsets. */
export const ENVIRONMENT_VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_USE_ENV_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  ...ROOT_VARIABLES,
] as const;

function environment({ caFile, proxyUrl, pacUrl }: SnippetContext): Snippet {
  const root = posixWord(caFile);
  const values: Record<(typeof ENVIRONMENT_VARIABLES)[number], string> = {
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    NO_PROXY: '',
    NODE_USE_ENV_PROXY: '1',
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    no_proxy: '',
    NODE_EXTRA_CA_CERTS: root,
    SSL_CERT_FILE: root,
    REQUESTS_CA_BUNDLE: root,
    CURL_CA_BUNDLE: root,
  };
  return {
    id: 'environment',
    title: 'Environment',
    language: 'sh',
    text: ENVIRONMENT_VARIABLES.map((name) => `export ${name}=${values[name]}\n`).join(''),
    note:
      'For a program that talks only to Vivarium: the proxy refuses every other hostname. NODE_USE_ENV_PROXY makes ' +
      `fetch in Node 24 use the proxy. For browsers and systems, use ${pacUrl}, which sends only Vivarium’s hostnames through the proxy.`,
  };
}

function doh(context: SnippetContext): Snippet {
  const { address, direct, caFile, dohUrl } = context;
  const { hostname, port } = new URL(dohUrl);
  const root = posixWord(caFile);
  return {
    id: 'doh',
    title: 'Secure DNS',
    language: 'sh',
    text: `${asCurl(requestOf(direct, context), [`--doh-url ${dohUrl} --cacert ${root}`])}

dig @${hostname} -p ${port} +https +tls-ca=${root} +tls-hostname=${hostname} ${posixWord(address.hostname)} HTTPS
`,
    note:
      `In Firefox, enter ${dohUrl} in Settings, Privacy & Security, DNS over HTTPS, Increased Protection, Custom. It then opens ` +
      'hostnames without a port. Chromium ignores the port in the answer, so use the PAC file there. dig must be from BIND 9.18 or newer.',
  };
}

const dig = ({ address, ports }: SnippetContext): Snippet => ({
  id: 'dig',
  title: 'dig',
  language: 'sh',
  text: `dig @127.0.0.1 -p ${ports.dns} ${posixWord(address.hostname)}\n`,
  note: 'Asks Vivarium’s own DNS server, as verification does. The system’s resolver may answer differently.',
});
