import { BREAK_ZONE } from '../../main/base/config.ts';
import { STANDING_HOSTS, TLS_CLIENTS } from '../../main/breaks/standing-hosts.ts';

/** `docs/reference/broken-tls.md`: the hostnames that are always broken, with what clients report, from the catalogue. */
export function makeBrokenTlsPage(): string {
  const rows = [...STANDING_HOSTS.values()].map(({ entry }) => {
    const cells = TLS_CLIENTS.map(([client]) => cell(entry.symptoms[client]));
    return `| \`${entry.id.slice('tls.'.length)}\` | ${cells.join(' | ')} |`;
  });
  const entries = [...STANDING_HOSTS.values()].map(
    ({ hostname, entry }) => `### ${entry.title}\n\n\`${hostname}\`, \`${entry.id}\`. ${entry.cause} ${entry.remedy}\n`,
  );
  return `# Broken TLS

See what your client does when a certificate or a handshake is wrong. From the first start, each of these hostnames has one fault; no set-up is
needed, and the faults never expire. The hostname is the first column, followed by \`.${BREAK_ZONE}\`:

\`\`\`sh
vivarium ca export --output vivarium-root.pem
curl --cacert vivarium-root.pem https://expired.${BREAK_ZONE}:8443/
\`\`\`

The client has to trust the root: otherwise it refuses all of them for the same reason. \`vivarium status\` names the ports. Over plain HTTP, each hostname says what is wrong with it. Where badssl.com has the same fault, the name is the same.

## What clients say

Curl 7.88, Python 3.11, Go 1.19, Java 17, Node 24, Chromium 156 and Firefox ESR 153 on Debian 12, as tested. Other versions may report
other messages.

| Hostname | ${TLS_CLIENTS.map(([, name]) => name).join(' | ')} |
|---|${'---|'.repeat(TLS_CLIENTS.length)}
${rows.join('\n')}

Chromium accepts the missing intermediate because it fetches the certificate from the address in the hostname's certificate; Firefox knows
intermediates of public authorities only. None of these clients asks for the list of revoked certificates by itself. With the lists, Node
(\`crl\`) and curl (\`--crlfile\`) refuse the revoked certificate.

A root without an intermediate, from an older Vivarium, cannot show a chain in the wrong order. \`vivarium ca renew\` gives it an intermediate.

## Each of them

${entries.join('\n')}
## What is not possible here

SSL 3, TLS 1.0, RC4, 3DES, ciphers without encryption and short Diffie-Hellman keys are not in the TLS library of Node. The desktop app serves
with Electron's library instead, which was not tested with these clients.
`;
}

const cell = (symptom: string | undefined): string => {
  if (symptom === undefined) return 'not tested';
  return symptom === 'accepts it' ? symptom : `\`${symptom}\``;
};
