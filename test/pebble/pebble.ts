import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { join } from 'node:path';
import { DATA_DIR, engineReady, option, portOf } from './engine.ts';
import { callAt } from '../support/rpc/rpc-call.ts';

const CHECK_MS = 500;

interface Config {
  pebble: {
    listenAddress: string;
    /** Without one, there is no management interface. */
    managementListenAddress?: string;
    /** PEM files that clients trust. */
    certificate: string;
    privateKey: string;
    httpPort: number;
    tlsPort: number;
  };
}

const { pebble } = JSON.parse(readFileSync(option('config', 'test/config/pebble-config.json'), 'utf8')) as Config;
const runtime = await engineReady();
// The engine removes the file when it ends, and this program ends with it.
setInterval(() => existsSync(join(DATA_DIR, 'runtime.json')) || process.exit(1), CHECK_MS).unref();
await callAt(runtime.control, 'settings.update', { acmeHttpPort: pebble.httpPort, acmeTlsPort: pebble.tlsPort });

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

/** A type, and what is there. */
type Paths = Record<string, readonly [type: string, read: () => string | Promise<string>]>;

const PEM = 'application/pem-certificate-chain; charset=utf-8';

const MANAGEMENT: Paths = {
  '/roots/0': [PEM, () => readFileSync(runtime.caFile, 'utf8')],
  '/root-keys/0': ['application/x-pem-file', () => readFileSync(join(DATA_DIR, 'ca', 'root-key.pem'), 'utf8')],
  '/intermediates/0': [PEM, intermediate],
};

function serve(address: string, paths: Paths): void {
  const options = { cert: readFileSync(pebble.certificate), key: readFileSync(pebble.privateKey) };
  createServer(options, ({ url = '' }, response) => {
    const path = paths[url];
    if (path === undefined) return response.writeHead(404).end('Vivarium’s adapter has nothing for this.\n');
    const [type, read] = path;
    return Promise.resolve(read()).then(
      (text) => response.writeHead(200, { 'content-type': type }).end(text),
      (error: unknown) => response.writeHead(500).end(`${String(error)}\n`),
    );
  }).listen(portOf(address), '127.0.0.1');
}

serve(pebble.listenAddress, { '/dir': ['application/json; charset=utf-8', directory] });
if (pebble.managementListenAddress !== undefined) serve(pebble.managementListenAddress, MANAGEMENT);
