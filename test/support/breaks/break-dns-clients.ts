/**
 * Queries real clients for names that are broken by one entry of the family `dns` each, and prints their output. Runs
 * in namespaces where port 53 is free and `/etc/resolv.conf` names 127.0.0.1, so that the system's resolver is used
 * too.
 */
import { execFile } from 'node:child_process';
import { Resolver, lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { DNS_ENTRIES } from '../../../main/breaks/catalogue/dns.ts';
import type { BreakClient, BreakEntry } from '../../../main/contract/breaks.ts';
import { platformZone } from '../../../main/dns/zones/own-zones.ts';
import { createDnsServer } from '../../../main/dns/server/server.ts';
import { WRONG_ANSWERS } from '../../../main/dns/server/wrong-answers.ts';
import { NO_FAULTS } from '../../../main/model/fault.ts';
import { launchChromium } from '../chromium.ts';
import { zoneOf, zoneSetOf } from '../dns/dns-tables.ts';

type Client = BreakClient | 'kdig';

/** By entry, what each client reports; `HOST` stands for the hostname. */
export type Said = Record<string, Partial<Record<Client, string>>>;

/** Short, because the default delay applies to each client. */
const DELAY_MS = 400;

/** Concurrent processes. */
const AT_ONCE = 6;
/** A change of addresses and one of routes happen at most twice each. */
const MAX_NETWORK_CHANGES = 4;

/** Programs that take all hostnames at once: a client's name, and the command line. */
const programs = JSON.parse(process.argv[2] ?? '{}') as Record<string, string[]>;

const entries = DNS_ENTRIES.filter(({ id }) => id in WRONG_ANSWERS);
const nameOf = ({ id }: BreakEntry): string => `${id.slice('dns.'.length)}.test`;
const records = '@ 60 A 127.0.0.1\n@ 60 AAAA ::1\n@ 60 MX 10 mail';
const zones = zoneSetOf([platformZone(), ...entries.map((entry) => zoneOf(nameOf(entry), records))]);
const byName = new Map(entries.map((entry) => [nameOf(entry), entry]));

const dns = createDnsServer({
  clock: createClock(),
  log: silentLog,
  port: 53,
  zones: () => zones,
  faults: {
    ...NO_FAULTS,
    question({ name }) {
      const entry = byName.get(name);
      if (entry === undefined) return null;
      const defaults = entry.parameters.map((each) => [each.name, each.default] as const);
      const parameters = { ...Object.fromEntries(defaults), delayMs: DELAY_MS };
      return { breakId: 'brk_1', entry: entry.id, parameters, draw: 0 };
    },
  },
});
await dns.start();
const site = createServer((_request, response) => response.end('ok')).listen(80, '127.0.0.1');

interface Ended {
  code: number | string;
  stdout: string;
  stderr: string;
}

const run = (command: string, ...words: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(command, words, { timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout: stdout.trim(), stderr: stderr.trim() }),
    );
  });

/** The output of `dig` and `kdig`: faults, the status, the answer with TTLs, and the server's explanation. */
async function asked(tool: 'dig' | 'kdig', host: string, type: string): Promise<string> {
  const tries = tool === 'dig' ? '+tries=1' : '+retry=0';
  const words = ['@127.0.0.1', '+time=3', tries, '+norec', ...(tool === 'kdig' ? ['+edns'] : []), host, type];
  const { stdout, stderr } = await run(tool, ...words);
  const lines = `${stdout}\n${stderr}`.split('\n');
  const faults = lines.filter((line) => FAULT.test(line)).map((line) => line.replace(/^;+ */, ''));
  const found = lines.filter((line) => /^[^;\s]\S*\s+\d+\s+IN\s/.test(line)).map(recordText);
  const explained = /EDE: \d+ \([^)]*\): \(?'?(.*?)'?\)?$/m.exec(stdout)?.[1];
  const shown = found.length > 3 ? [...found.slice(0, 2), `${found.length - 2} more`] : found;
  return [...faults, /status: (\w+)/.exec(stdout)?.[1], ...shown, explained]
    .filter((part) => part !== undefined)
    .join('; ');
}

/** For a doubled name, the records at that name too. */
async function askedFor(tool: 'dig' | 'kdig', entry: BreakEntry): Promise<string> {
  const host = nameOf(entry);
  const type = TYPES[entry.id];
  const text = await asked(tool, host, type ?? 'A');
  if (type !== undefined) return `${text} (for ${type})`;
  if (entry.id !== 'dns.zone-doubled') return text;
  return `${text}. ${host}.${host}: ${await asked(tool, `${host}.${host}`, 'A')}`;
}

const FAULT = /^;+ (?:Truncated|communications error|no servers|WARNING|ERROR)/;

/** `300 A 127.0.0.1`; of an SOA, only the TTL counts. */
function recordText(line: string): string {
  const [, ttl, , type, ...data] = line.split(/\s+/);
  return type === 'SOA' ? `${ttl} SOA` : [ttl, type, ...data].join(' ');
}

async function curl(host: string): Promise<string> {
  const options = ['-sS', '-m', '20', '-o', '/dev/null', '-w', '%{http_code}'];
  const { code, stdout, stderr } = await run('curl', ...options, `http://${host}/`);
  return code === 0 ? stdout : stderr;
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);

async function node(host: string): Promise<string> {
  const resolver = new Resolver({ timeout: 3_000, tries: 1 });
  const [cares, system] = await Promise.all([
    resolver.resolve4(host).then((found) => (found.length === 0 ? 'no address' : found.join(', ')), codeOf),
    lookup(host).then(({ address }) => address, codeOf),
  ]);
  return `resolve4: ${cares}; lookup: ${system}`;
}

/** The question that shows the entry best. */
const TYPES: Record<string, string> = { 'dns.ipv6-black-hole': 'AAAA', 'dns.cname-at-apex': 'MX' };

const said: Said = {};
function say(client: Client, entry: BreakEntry, text: string, elapsedMs: number): void {
  const late = entry.id !== 'dns.slow' ? '' : elapsedMs < DELAY_MS ? ', at once' : ', after the delay';
  const steady = text
    .replaceAll(nameOf(entry), 'HOST')
    .replace(/(?<=udp 127\.0\.0\.1):\d+/, '')
    .replace(/after \d+ ms/, 'after … ms');
  (said[entry.id] ??= {})[client] = steady + late;
}

const CLIENTS: Record<'dig' | 'kdig' | 'curl' | 'node', (entry: BreakEntry) => Promise<string>> = {
  dig: (entry) => askedFor('dig', entry),
  kdig: (entry) => askedFor('kdig', entry),
  curl: (entry) => curl(nameOf(entry)),
  node: (entry) => node(nameOf(entry)),
};

const work = entries.flatMap((entry) =>
  Object.entries(CLIENTS).map(([client, ask]) => async () => {
    const began = performance.now();
    const text = await ask(entry);
    say(client as Client, entry, text, performance.now() - began);
  }),
);

async function all(client: Client, [program = '', ...words]: string[]): Promise<void> {
  const began = performance.now();
  const { stdout } = await run(program, ...words, ...entries.map(nameOf));
  for (const line of stdout.split('\n')) {
    const [host = '', text = ''] = line.split('\t');
    const entry = byName.get(host);
    if (entry !== undefined) say(client, entry, text, performance.now() - began);
  }
}

/**
 * By the system's resolver: what loading a page reports. Some time after its start, Chromium notices the namespace's
 * fresh network and aborts what it is loading; that says nothing about the name, which is loaded again.
 */
async function chromium(): Promise<void> {
  const browser = await launchChromium({ home: process.env.TMPDIR ?? '/tmp' });
  const waiting = [...entries];
  for (let changes = 0, entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const page = await browser.newPage();
    const began = performance.now();
    const text = await page.goto(`http://${nameOf(entry)}/`).then(
      (response) => String(response?.status()),
      (error: unknown) => /ERR_\w+/.exec(String(error))?.[0] ?? String(error),
    );
    const elapsedMs = performance.now() - began;
    await page.close();
    if (text === 'ERR_NETWORK_CHANGED' && (changes += 1) <= MAX_NETWORK_CHANGES) waiting.unshift(entry);
    else say('chromium', entry, text, elapsedMs);
  }
  await browser.close();
}

await Promise.all([
  chromium(),
  ...Object.entries(programs).map(([client, words]) => all(client as Client, words)),
  ...Array.from({ length: AT_ONCE }, async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
  }),
]);
process.stdout.write(JSON.stringify(said));
site.close();
await dns.stop();
