import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { join } from 'node:path';
import { call, DATA_DIR, engineReady, option, portOf } from './engine.ts';

interface Config {
  pebble: {
    listenAddress: string;
    managementListenAddress: string;
    /** PEM files that clients trust. */
    certificate: string;
    privateKey: string;
    httpPort: number;
    tlsPort: number;
  };
}

const { pebble } = JSON.parse(readFileSync(option('config', 'test/config/pebble-config.json'), 'utf8')) as Config;
const runtime = await engineReady();
await call(runtime, 'settings.update', { acmeHttpPort: pebble.httpPort, acmeTlsPort: pebble.tlsPort });

/** Its URLs lead to Vivarium itself, whose root clients have to trust as well. */
function directory(): Promise<string> {
  return new Promise((resolve, reject) => {
    get(runtime.acme.directoryUrl, { ca: readFileSync(runtime.caFile) }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

async function intermediate(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${runtime.http.port}/intermediate.crt`);
  return new X509Certificate(Buffer.from(await response.arrayBuffer())).toString();
}

type Paths = Record<string, () => string | Promise<string>>;

const MANAGEMENT: Paths = {
  '/roots/0': () => readFileSync(runtime.caFile, 'utf8'),
  '/root-keys/0': () => readFileSync(join(DATA_DIR, 'ca', 'root-key.pem'), 'utf8'),
  '/intermediates/0': intermediate,
};

function serve(address: string, paths: Paths): void {
  const options = { cert: readFileSync(pebble.certificate), key: readFileSync(pebble.privateKey) };
  createServer(options, ({ url = '' }, response) => {
    const path = paths[url];
    if (path === undefined) return response.writeHead(404).end('Vivarium’s adapter has nothing for this.\n');
    return Promise.resolve(path()).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
    );
  }).listen(portOf(address), '127.0.0.1');
}

serve(pebble.listenAddress, { '/dir': directory });
serve(pebble.managementListenAddress, MANAGEMENT);
