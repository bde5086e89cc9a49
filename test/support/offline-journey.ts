/**
 * A user sets up hostnames at their real URLs, in namespaces without a network: prints the result of each step in one
 * line of JSON. Runs in a separate process, for `test/e2e/real-urls.clients.test.ts`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { silentLog } from '../../main/base/log.ts';
import type { StoreTrust } from '../../main/contract/certificates.ts';
import { createExchange } from '../../main/dns/server/exchange.ts';
import { ZoneSet } from '../../main/dns/zones/zone-set.ts';
import { createZone } from '../../main/dns/zones/zone.ts';
import { callAt } from './rpc/rpc-call.ts';
import { launchChromium } from './chromium.ts';
import { type Shown, startFirefox } from './firefox.ts';

/** The values that the documentation page gives its reader. */
export interface Journey {
  browser: 'firefox' | 'chromium';
  /** Vivarium's program, and a folder for its data and the user's home. */
  program: string;
  folder: string;
  hostnames: string[];
  /** The URL for DNS over HTTPS. */
  dohUrl: string;
  /** The options for starting Chromium. */
  option: string;
}

export interface Seen {
  /** Before any set-up: a site elsewhere, and the first hostname. */
  before: (Shown | null)[];
  trust: Pick<StoreTrust, 'state' | 'handshake'>;
  hostnames: (Shown | null)[];
  elsewhere: Shown | null;
  /** For Firefox, which is set up in its profile: what the doctor finds in each installed browser. */
  doctor: string[];
  /** Another site, within 5 s after Vivarium has stopped. */
  afterwards: Shown | null;
}

/** Real milliseconds until browsing works as before. */
const RESTORED_MS_MAX = 30_000;

/** Firefox sometimes needs reloads: see docs/reach-a-hostname.md. */
const RELOADS_MAX = 5;

interface Opened {
  open(url: string): Promise<Shown | null>;
  quit(): Promise<void>;
}

/** The rest of the Internet: a resolver at the address in /etc/resolv.conf, and a site. */
async function startElsewhere(): Promise<void> {
  const zones = new ZoneSet();
  const data = { type: 'A', address: '127.0.0.9' } as const;
  const records = ['a', 'b', 'c'].map((label) => ({ name: `${label}.elsewhere.example`, ttlSeconds: 300, data }));
  zones.put(createZone({ apex: 'elsewhere.example', nameServer: 'ns.elsewhere.example', records }));
  const exchange = createExchange({ zones: () => zones, log: silentLog });
  const resolver = createSocket('udp4');
  resolver.on('message', (query, from) => {
    const reply = exchange(query, 'udp');
    if (reply !== null) resolver.send(reply, from.port, from.address);
  });
  resolver.bind(53, '127.0.0.53');
  const site = createServer((_request, response) => response.end('a site elsewhere')).listen(80, '127.0.0.9');
  await Promise.all([once(resolver, 'listening'), once(site, 'listening')]);
}

async function startVivarium({ program, folder }: Journey) {
  const child = spawn(process.execPath, [program, 'serve', '--data-dir', join(folder, 'data')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOME: folder, VIVARIUM_BROWSER_ARGUMENTS: '--no-sandbox' },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('Stop with Ctrl-C')) resolve();
    });
    child.once('exit', () => reject(new Error(`Vivarium ended: ${printed}`)));
  });
  const { control } = JSON.parse(readFileSync(join(folder, 'data/runtime.json'), 'utf8')) as {
    control: { url: string; token: string };
  };
  return {
    call: <Procedure extends string>(procedure: Procedure, input: object = {}) => callAt(control, procedure, input),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const firefox = async ({ folder, dohUrl }: Journey, prepared: boolean): Promise<Opened> => {
  const browser = await startFirefox(folder);
  // What Settings, DNS over HTTPS, Increased Protection, Custom writes.
  if (prepared) await browser.useDoh(dohUrl);
  return { ...browser, open: (url) => browser.open(url, prepared ? RELOADS_MAX : 0) };
};

const chromium = async ({ folder, option }: Journey, prepared: boolean): Promise<Opened> => {
  const browser = await launchChromium({ home: folder, tmpDir: folder, args: prepared ? [option] : [] });
  return {
    async open(url) {
      const page = await browser.newPage();
      const response = await page.goto(url).catch(() => null);
      if (response === null) return null;
      // Without an error, an existing certificate was verified.
      const issuer = (await response.securityDetails())?.issuer ?? '';
      return { url: page.url(), text: await response.text(), padlock: issuer !== '', issuer };
    },
    quit: () => browser.close(),
  };
};

/** Whether each installed browser opens a page with its current settings. */
async function askDoctor({ call }: Awaited<ReturnType<typeof startVivarium>>): Promise<string[]> {
  const { checks } = await call('doctor.run', { areas: ['browsers'] });
  return checks.map(({ title, status }) => `${title}: ${status}`).sort();
}

async function runJourney(journey: Journey): Promise<Seen> {
  const { hostnames, browser } = journey;
  const [store, start] =
    browser === 'firefox' ? (['nss:firefox', firefox] as const) : (['nss:user', chromium] as const);
  await startElsewhere();
  const vivarium = await startVivarium(journey);
  await vivarium.call('projects.update', { projectId: 'demo', plan: 'pro' });
  for (const hostname of hostnames) await vivarium.call('domains.attach', { projectId: 'demo', hostname, local: true });
  const urls = hostnames.map((hostname) => `https://${hostname.replace('*', 'any')}/`);

  const untouched = await start(journey, false);
  const before = [await untouched.open('http://a.elsewhere.example/'), await untouched.open(urls[0] ?? '')];
  await untouched.quit();

  const stores = await vivarium.call('ca.trustStatus');
  const own = stores.find((each) => each.store.startsWith(store));
  // Chromium has no trust store before it has opened a site over HTTPS.
  if (own?.command !== undefined) spawnSync('sh', ['-c', own.command]);
  const trust = await vivarium.call('ca.trust', { store: own?.store });
  const prepared = await start(journey, true);
  const shown = [];
  for (const url of urls) shown.push(await prepared.open(url));
  const elsewhere = await prepared.open('http://b.elsewhere.example/');
  const doctor = browser === 'firefox' ? await askDoctor(vivarium) : [];
  await vivarium.stop();
  const late = once(AbortSignal.timeout(RESTORED_MS_MAX), 'abort').then(() => null);
  const afterwards = await Promise.race([prepared.open('http://c.elsewhere.example/'), late]);
  await prepared.quit();
  const { state, handshake } = trust;
  return {
    before,
    trust: { state, ...(handshake !== undefined && { handshake }) },
    hostnames: shown,
    elsewhere,
    doctor,
    afterwards,
  };
}

process.stdout.write(`${JSON.stringify(await runJourney(JSON.parse(process.argv[2] ?? '') as Journey))}\n`);
process.exit();
