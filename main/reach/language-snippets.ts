import { asGo } from '../base/text/request-code.ts';
import type { CopiedRequest } from '../base/text/shell.ts';
import type { Snippet } from '../contract/reach.ts';
import type { ReachedAddress } from './mapped-hostnames.ts';

export interface SnippetFacts {
  address: Pick<ReachedAddress, 'hostname' | 'scheme' | 'leadsTo'>;
  ports: { http: number; https: number; dns: number };
  /** The file of the root, in PEM. */
  caFile: string;
  proxyUrl: string;
  pacUrl: string;
  dohUrl: string;
}

export interface SnippetContext extends SnippetFacts {
  hostname: string;
  secure: boolean;
  port: number;
  /** Whether the request needs an API key. */
  keyed: boolean;
  /** The URL with the listener's port, for clients that connect to the address themselves. */
  direct: string;
  /** The URL with the scheme's default port, for clients that use the proxy. */
  proxied: string;
  /** The request, to `direct` unless `url` is given. */
  request(url?: string): CopiedRequest;
  /** The root's file, for HTTPS. */
  root: string | undefined;
}

/** A row of the table of snippets; functions of the context where the text depends on it. */
export type SnippetRow = Pick<Snippet, 'id' | 'title' | 'language'> & {
  text(context: SnippetContext): string;
  note?: string | ((context: SnippetContext) => string | undefined);
};

/** A string literal that is valid in JavaScript, Python and Java. */
const text = (value: string): string => JSON.stringify(value);

/** A C# string literal: C# has all of JSON's escapes, and does not expand variables. */
const quoted = (value: string): string => JSON.stringify(value.toWellFormed());

/** A PHP or Ruby string literal without expansion: only the backslash and the quote need escaping. */
const singleQuoted = (value: string): string => `'${value.replaceAll(/[\\']/g, '\\$&')}'`;

/** Joins lines; leaves out those whose condition is false. */
const lines = (...all: (string | false)[]): string => `${all.filter((line) => line !== false).join('\n')}\n`;

const JS_KEY = '{ Authorization: `Bearer ${process.env.VIVARIUM_KEY}` }';
const PYTHON_KEY = '{"Authorization": f"Bearer {os.environ[\'VIVARIUM_KEY\']}"}';

const javaTrust = (caFile: string): string => `
    var root = CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(${text(caFile)}));
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry("vivarium", root);
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    var tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
`;

const csharpTrust = (caFile: string): string => `    SslOptions = new SslClientAuthenticationOptions
    {
        CertificateChainPolicy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            CustomTrustStore = { X509Certificate2.CreateFromPem(File.ReadAllText(${quoted(caFile)})) },
            RevocationMode = X509RevocationMode.NoCheck,
        },
    },`;

/** Programs that send the request. Each trusts the root in that program only. */
export const PROGRAMS: readonly SnippetRow[] = [
  {
    id: 'node',
    title: 'Node',
    language: 'js',
    text: ({ secure, direct, caFile, keyed }) =>
      lines(
        secure && "import { readFileSync } from 'node:fs';",
        `import { get } from 'node:${secure ? 'https' : 'http'}';`,
        '',
        'get(',
        `  ${text(direct)},`,
        '  {',
        '    // Replaces the DNS lookup',
        '    lookup: (_hostname, { all }, done) =>',
        "      all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),",
        secure && `    ca: readFileSync(${text(caFile)}),`,
        keyed && `    headers: ${JS_KEY},`,
        '  },',
        '  (response) => response.pipe(process.stdout),',
        ');',
      ),
    note: 'Save it as `reach.mjs`. fetch has no option for an address or a root: for fetch, see Environment.',
  },
  {
    id: 'requests',
    title: 'Python requests',
    language: 'python',
    text: ({ secure, proxied, caFile, keyed, proxyUrl }) =>
      lines(
        keyed && 'import os\n',
        'import requests',
        '',
        'response = requests.get(',
        `    ${text(proxied)},`,
        `    proxies={"http": ${text(proxyUrl)}, "https": ${text(proxyUrl)}},`,
        secure && `    verify=${text(caFile)},`,
        keyed && `    headers=${PYTHON_KEY},`,
        ')',
        'print(response.text)',
      ),
  },
  {
    id: 'urllib',
    title: 'Python urllib',
    language: 'python',
    text: ({ secure, proxied, caFile, keyed, proxyUrl }) =>
      lines(
        keyed && 'import os',
        secure && 'import ssl',
        'import urllib.request',
        '',
        'opener = urllib.request.build_opener(',
        `    urllib.request.ProxyHandler({"http": ${text(proxyUrl)}, "https": ${text(proxyUrl)}}),`,
        secure && `    urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=${text(caFile)})),`,
        ')',
        `request = urllib.request.Request(${text(proxied)}${keyed ? `, headers=${PYTHON_KEY}` : ''})`,
        'print(opener.open(request).read().decode())',
      ),
  },
  {
    id: 'java',
    title: 'Java',
    language: 'java',
    text({ secure, proxied, caFile, keyed, proxyUrl }) {
      const { hostname, port } = new URL(proxyUrl);
      return lines(
        secure && 'import java.io.FileInputStream;',
        'import java.net.*;',
        'import java.net.http.*;',
        secure && 'import java.security.KeyStore;',
        secure && 'import java.security.cert.CertificateFactory;',
        secure && 'import javax.net.ssl.*;',
        '',
        'public class Reach {',
        `  public static void main(String[] arguments) throws Exception {${secure ? javaTrust(caFile) : ''}`,
        '    var client = HttpClient.newBuilder()',
        `        .proxy(ProxySelector.of(new InetSocketAddress("${hostname}", ${port})))`,
        secure && '        .sslContext(tls)',
        '        .build();',
        `    var request = HttpRequest.newBuilder(URI.create(${text(proxied)}))`,
        keyed && '        .header("Authorization", "Bearer " + System.getenv("VIVARIUM_KEY"))',
        '        .build();',
        '    System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());',
        '  }',
        '}',
      );
    },
    note: 'Save it as `Reach.java`, and run `java Reach.java` with Java 11 or newer.',
  },
  {
    id: 'go',
    title: 'Go',
    language: 'go',
    text: ({ request, port, root }) => `${asGo(request(), { port, caFile: root })}\n`,
    note: 'Save it as `reach.go`, and run `go run reach.go` with Go 1.16 or newer.',
  },
  {
    id: 'csharp',
    title: 'C#',
    language: 'csharp',
    text: ({ secure, direct, caFile, keyed }) =>
      lines(
        'using System;',
        secure && 'using System.IO;',
        'using System.Net;',
        'using System.Net.Http;',
        secure && 'using System.Net.Security;',
        'using System.Net.Sockets;',
        secure && 'using System.Security.Cryptography.X509Certificates;',
        '',
        'var handler = new SocketsHttpHandler',
        '{',
        '    UseProxy = false,',
        '    // Replaces the DNS lookup',
        '    ConnectCallback = async (context, cancellation) =>',
        '    {',
        '        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);',
        '        try',
        '        {',
        '            await socket.ConnectAsync(IPAddress.Loopback, context.DnsEndPoint.Port, cancellation);',
        '            return new NetworkStream(socket, ownsSocket: true);',
        '        }',
        '        catch',
        '        {',
        '            socket.Dispose();',
        '            throw;',
        '        }',
        '    },',
        secure && csharpTrust(caFile),
        '};',
        'using var client = new HttpClient(handler);',
        `using var request = new HttpRequestMessage(HttpMethod.Get, ${quoted(direct)});`,
        keyed &&
          'request.Headers.Add("Authorization", "Bearer " + Environment.GetEnvironmentVariable("VIVARIUM_KEY"));',
        'using var response = await client.SendAsync(request);',
        'Console.WriteLine((int)response.StatusCode);',
        'Console.WriteLine(await response.Content.ReadAsStringAsync());',
      ),
    note: 'Save it as `Program.cs` of a console project for .NET 7 or newer, and run `dotnet run`.',
  },
  {
    id: 'php',
    title: 'PHP',
    language: 'php',
    text: ({ hostname, secure, direct, port, caFile, keyed }) =>
      lines(
        '<?php',
        `$request = curl_init(${singleQuoted(direct)});`,
        'curl_setopt_array($request, [',
        `    CURLOPT_RESOLVE => [${singleQuoted(`${hostname}:${port}:127.0.0.1`)}],`,
        "    CURLOPT_PROXY => '',",
        secure && `    CURLOPT_CAINFO => ${singleQuoted(caFile)},`,
        keyed && "    CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('VIVARIUM_KEY')],",
        '    CURLOPT_RETURNTRANSFER => true,',
        ']);',
        '$body = curl_exec($request);',
        'if ($body === false) {',
        '    throw new RuntimeException(curl_error($request));',
        '}',
        String.raw`echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), "\n", $body, "\n";`,
      ),
    note: 'Save it as `reach.php`, and run `php reach.php` with PHP 7 or newer and its curl extension.',
  },
  {
    id: 'ruby',
    title: 'Ruby',
    language: 'ruby',
    text({ hostname, secure, direct, port, caFile, keyed }) {
      const { pathname, search } = new URL(direct);
      return lines(
        "require 'net/http'",
        '',
        '# nil ignores the proxy of the environment',
        `http = Net::HTTP.new(${singleQuoted(hostname)}, ${port}, nil)`,
        '# Replaces the DNS lookup',
        "http.ipaddr = '127.0.0.1'",
        secure && `http.use_ssl = true\nhttp.ca_file = ${singleQuoted(caFile)}`,
        `request = Net::HTTP::Get.new(${singleQuoted(pathname + search)})`,
        keyed && `request['Authorization'] = "Bearer #{ENV.fetch('VIVARIUM_KEY')}"`,
        'response = http.request(request)',
        'puts response.code',
        'puts response.body',
      );
    },
    note: 'Save it as `reach.rb`, and run `ruby reach.rb` with Ruby 2.7 or newer.',
  },
  {
    id: 'playwright',
    title: 'Playwright',
    language: 'js',
    text: ({ secure, proxied, keyed, proxyUrl }) =>
      lines(
        "import { chromium } from 'playwright';",
        '',
        `const browser = await chromium.launch({ proxy: { server: ${text(proxyUrl)} } });`,
        secure || keyed ? 'const page = await browser.newPage({' : 'const page = await browser.newPage();',
        secure && '  ignoreHTTPSErrors: true,',
        keyed && `  extraHTTPHeaders: ${JS_KEY},`,
        (secure || keyed) && '});',
        `await page.goto(${text(proxied)});`,
        "console.log(await page.textContent('body'));",
        'await browser.close();',
      ),
    note: ({ secure }) =>
      secure
        ? 'Playwright has no option for a page’s root. Ignoring HTTPS errors is safe here, because the proxy connects only to this Vivarium.'
        : undefined,
  },
];
