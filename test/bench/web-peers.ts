import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, portOf, type Sample, startNode, startProgram, temporaryFolder } from './harness.ts';

const PEERS = join(import.meta.dirname, 'peers');

/** A server under load, and its ports for plain HTTP and for HTTPS with HTTP/2; `NaN` where it has none. */
export interface Side {
  name: string;
  child: ChildProcess;
  http: number;
  https: number;
}

/** The minimum that Node can do: `answers` by their targets, over HTTP/1.1 and over HTTP/2. */
export async function startBareServers(answers: Record<string, Sample>, host: string): Promise<Side[]> {
  const folder = temporaryFolder();
  const file = join(folder, 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  const { key, certificate } = makeLeaf(host, folder);
  const plain = await startNode([join(PEERS, 'bare-http.ts'), file], portOf);
  const secure = await startNode([join(PEERS, 'bare-http2.ts'), file, key, certificate], portOf);
  return [
    { name: 'node:http', child: plain.child, http: plain.ready, https: Number.NaN },
    { name: 'node:http2', child: secure.child, http: Number.NaN, https: secure.ready },
  ];
}

/** The program of a peer that forwards every request to `url`. */
export async function startForwarder(name: string, program: string, url: string): Promise<Side> {
  const { child, ready } = await startNode([join(PEERS, program), url], portOf);
  return { name, child, http: ready, https: Number.NaN };
}

interface Started {
  config: string;
  args: readonly string[];
  env?: Record<string, string>;
}

interface Wanted {
  folder: string;
  host: string;
  upstream: string;
  http: number;
  https: number;
  key: string;
  certificate: string;
}

/** The common reverse proxies: each one's configuration, and how it is started on one thread. */
const PROXIES: Record<string, (wanted: Wanted) => Started> = {
  caddy: ({ folder, host, upstream, http, https, key, certificate }) => ({
    config: `{\n  admin off\n  auto_https off\n}\nhttp://:${http} {\n  bind 127.0.0.1\n  reverse_proxy ${upstream}\n}
https://${host}:${https} {\n  bind 127.0.0.1\n  tls ${certificate} ${key}\n  reverse_proxy ${upstream}\n}\n`,
    args: ['run', '--adapter', 'caddyfile', '--config', join(folder, 'caddy')],
    env: { GOMAXPROCS: '1', HOME: folder },
  }),
  nginx: ({ folder, upstream, http, https, key, certificate }) => ({
    config: `daemon off; master_process off; pid ${folder}/nginx.pid; error_log /dev/null; events {}
      http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
        uwsgi_temp_path ${folder}; scgi_temp_path ${folder}; keepalive_requests 1000000000; client_max_body_size 0;
        upstream up { server ${upstream}; keepalive 64; keepalive_requests 1000000000; }
        map $http_upgrade $connection_kind { default upgrade; '' ''; }
        server { listen 127.0.0.1:${http}; listen 127.0.0.1:${https} ssl http2;
          ssl_certificate ${certificate}; ssl_certificate_key ${key};
          location / { proxy_pass http://up; proxy_http_version 1.1; proxy_request_buffering off;
            proxy_max_temp_file_size 0; proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_kind; proxy_set_header X-Forwarded-Host $http_host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme; } } }`,
    args: ['-p', folder, '-c', join(folder, 'nginx')],
  }),
  haproxy: ({ folder, upstream, http, https, key, certificate }) => {
    execFileSync('sh', ['-c', 'cat "$0" "$1" > "$2"', certificate, key, join(folder, 'both.pem')]);
    return {
      config: `global\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s
  option forwardfor\nfrontend f\n  bind 127.0.0.1:${http}
  bind 127.0.0.1:${https} ssl crt ${folder}/both.pem alpn h2,http/1.1\n  default_backend b
backend b\n  http-reuse always\n  server s ${upstream}\n`,
      args: ['-db', '-q', '-f', join(folder, 'haproxy')],
    };
  },
};

/** The installed ones among the reverse proxies, in front of `127.0.0.1:upstreamPort`; says which are missing. */
export async function startProxies(host: string, upstreamPort: number): Promise<Side[]> {
  const sides: Side[] = [];
  for (const [name, prepare] of Object.entries(PROXIES)) {
    if (!isInstalled(name)) {
      console.log(`  ${name} is not installed (apt-get install ${name}), and is not compared.`);
      continue;
    }
    const folder = temporaryFolder();
    const [http, https] = [await freePort(), await freePort()];
    const upstream = `127.0.0.1:${upstreamPort}`;
    const { config, args, env } = prepare({ folder, host, upstream, http, https, ...makeLeaf(host, folder) });
    writeFileSync(join(folder, name), config);
    sides.push({ name, child: await startProgram(name, args, http, env), http, https });
  }
  return sides;
}

export const isInstalled = (command: string): boolean => spawnSync('which', [command]).status === 0;

/** A self-signed certificate and its key, as files in a folder. */
export function makeLeaf(host: string, folder: string): { key: string; certificate: string } {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'leaf.pem')];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const named = ['-subj', '/CN=bench', '-addext', `subjectAltName=DNS:${host}`];
  execFileSync('openssl', ['req', ...made, ...named, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return { key, certificate };
}
