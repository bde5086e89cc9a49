import { posixWord } from '../../../../main/base/text/shell.ts';

export interface ClientSettings {
  directory: string;
  root: string;
  /** Where the client answers http-01 and tls-alpn-01. */
  httpPort: number;
  tlsPort: number;
  hostname: string;
}

/** What makes each client obtain a certificate here, to paste. */
export function clientTexts({ directory, root, httpPort, tlsPort, hostname }: ClientSettings) {
  const file = posixWord(root);
  const command = (...lines: string[]): string => lines.join(' \\\n  ');
  return {
    certbot: command(
      `REQUESTS_CA_BUNDLE=${file} certbot certonly`,
      `--agree-tos --register-unsafely-without-email`,
      `--server ${directory}`,
      `--standalone --http-01-port ${httpPort} -d ${hostname}`,
    ),
    lego: command(
      `LEGO_CA_CERTIFICATES=${file} lego --accept-tos`,
      `--email you@${hostname}`,
      `--server ${directory}`,
      `--http --http.port :${httpPort} -d ${hostname} run`,
    ),
    'acme.sh': command(
      `acme.sh --issue --ca-bundle ${file}`,
      `--server ${directory}`,
      `--standalone --httpport ${httpPort} -d ${hostname}`,
    ),
    other: `${directory}\n${root}`,
    Caddy: `{
  http_port ${httpPort}
  https_port ${tlsPort}
  acme_ca ${directory}
  acme_ca_root ${JSON.stringify(root)}
}
${hostname} {
  respond "It works."
}`,
  };
}
