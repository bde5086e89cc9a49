import { asGo } from '../base/text/request-code.ts';
import type { Snippet } from '../contract/reach.ts';
import { requestOf, rootOf, type SnippetContext } from './snippet-context.ts';

/**
 * The snippets for Go, C#, PHP and Ruby. Each connects to the loopback address, ignores the environment's proxy, and
 * trusts the root in that program only.
 */
export const languageSnippets = (context: SnippetContext): Snippet[] => [
  go(context),
  csharp(context),
  php(context),
  ruby(context),
];

/** A C# string literal: C# has all of JSON's escapes, and does not expand variables. */
const quoted = (value: string): string => JSON.stringify(value.toWellFormed());

/** A PHP or Ruby string literal without expansion: only the backslash and the quote need escaping. */
const singleQuoted = (value: string): string => `'${value.replaceAll(/[\\']/g, '\\$&')}'`;

/** Joins lines; leaves out those whose condition is false. */
const lines = (...all: (string | false)[]): string => `${all.filter((line) => line !== false).join('\n')}\n`;

const go = (context: SnippetContext): Snippet => ({
  id: 'go',
  title: 'Go',
  language: 'go',
  text: `${asGo(requestOf(context.direct, context), { port: context.port, caFile: rootOf(context) })}\n`,
  note: 'Go 1.16 or newer: go run reach.go',
});

function csharp({ secure, direct, caFile, keyed }: SnippetContext): Snippet {
  const namespaces = [
    'System',
    ...(secure ? ['System.IO'] : []),
    'System.Net',
    'System.Net.Http',
    ...(secure ? ['System.Net.Security'] : []),
    'System.Net.Sockets',
    ...(secure ? ['System.Security.Cryptography.X509Certificates'] : []),
  ];
  return {
    id: 'csharp',
    title: 'C#',
    language: 'csharp',
    text: lines(
      ...namespaces.map((namespace) => `using ${namespace};`),
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
      secure && CSHARP_TRUST(caFile),
      '};',
      'using var client = new HttpClient(handler);',
      `using var request = new HttpRequestMessage(HttpMethod.Get, ${quoted(direct)});`,
      keyed && 'request.Headers.Add("Authorization", "Bearer " + Environment.GetEnvironmentVariable("VIVARIUM_KEY"));',
      'using var response = await client.SendAsync(request);',
      'Console.WriteLine((int)response.StatusCode);',
      'Console.WriteLine(await response.Content.ReadAsStringAsync());',
    ),
    note: 'Program.cs of a console project for .NET 7 or newer: dotnet run',
  };
}

const CSHARP_TRUST = (caFile: string): string => `    SslOptions = new SslClientAuthenticationOptions
    {
        CertificateChainPolicy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            CustomTrustStore = { X509Certificate2.CreateFromPem(File.ReadAllText(${quoted(caFile)})) },
            RevocationMode = X509RevocationMode.NoCheck,
        },
    },`;

function php({ address, secure, direct, port, caFile, keyed }: SnippetContext): Snippet {
  return {
    id: 'php',
    title: 'PHP',
    language: 'php',
    text: lines(
      '<?php',
      `$request = curl_init(${singleQuoted(direct)});`,
      'curl_setopt_array($request, [',
      `    CURLOPT_RESOLVE => [${singleQuoted(`${address.hostname}:${port}:127.0.0.1`)}],`,
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
    note: 'PHP 7 or newer with its curl extension: php reach.php',
  };
}

function ruby({ address, secure, direct, port, caFile, keyed }: SnippetContext): Snippet {
  const { pathname, search } = new URL(direct);
  return {
    id: 'ruby',
    title: 'Ruby',
    language: 'ruby',
    text: lines(
      "require 'net/http'",
      '',
      '# nil ignores the proxy of the environment',
      `http = Net::HTTP.new(${singleQuoted(address.hostname)}, ${port}, nil)`,
      '# Replaces the DNS lookup',
      "http.ipaddr = '127.0.0.1'",
      secure && `http.use_ssl = true\nhttp.ca_file = ${singleQuoted(caFile)}`,
      `request = Net::HTTP::Get.new(${singleQuoted(pathname + search)})`,
      keyed && `request['Authorization'] = "Bearer #{ENV.fetch('VIVARIUM_KEY')}"`,
      'response = http.request(request)',
      'puts response.code',
      'puts response.body',
    ),
    note: 'Ruby 2.7 or newer: ruby reach.rb',
  };
}
