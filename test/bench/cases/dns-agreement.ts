import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClock } from '../../../main/base/clock.ts';
import { createDnsClient, type DnsClient } from '../../../main/dns/client.ts';
import { TYPE_CODES } from '../../../main/dns/record.ts';
import { end, type Figure, freePort, startVivarium, temporaryFolder, type Vivarium } from '../harness.ts';

export const ZONES = 8;
const RECORDS_PER_ZONE = 26;
const NAMES_PER_ZONE = 70;
/** ANY is left out: how little it is answered with is each server's own choice (RFC 8482). */
export const TYPES = { ...TYPE_CODES, TYPE65280: 65_280 };
const LABELS = ['a', 'b', 'c', 'd', '*'];
/** Disagreements that are told one by one. */
const TOLD_MAX = 10;

/**
 * Random zones with wildcards, empty non-terminals, CNAMEs and delegations, and random questions about them, put to
 * Vivarium and to NSD, which has the zone files that Vivarium exports: in how many the answers differ.
 */
export async function dnsAgreement(): Promise<Figure[]> {
  const program = ['nsd', '/usr/sbin/nsd'].find((name) => spawnSync(name, ['-v']).error === undefined);
  if (program === undefined) return [figure('not measured', null, 'NSD is not here: apt-get install nsd')];
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const folder = temporaryFolder();
  const client = createDnsClient(createClock({ onError: () => undefined }));
  let nsd: ChildProcess | null = null;
  try {
    const random = seeded(20_261_121);
    const names = new Map<string, string[]>();
    for (let index = 0; index < ZONES; index++) {
      const apex = `zone${index}.test`;
      names.set(apex, await makeZone(vivarium, folder, apex, random));
    }
    const port = await freePort();
    nsd = await startNsd(program, folder, [...names.keys()], port, client);
    const servers = { ours: vivarium.runtime.dns.port, peer: port };
    const disagreements: string[] = [];
    let questions = 0;
    for (const [apex, asked] of names) {
      for (const name of asked) {
        for (const [type, code] of Object.entries(TYPES)) {
          const differs = await compare(client, servers, { name, type: code }, apex);
          questions++;
          if (differs !== null) disagreements.push(`${name} ${type}: ${differs}`);
        }
      }
    }
    const told = disagreements.slice(0, TOLD_MAX).join('\n      ');
    return [
      figure(
        `${disagreements.length} of ${questions}`,
        disagreements.length === 0,
        told || 'all sections, rcode and AA',
      ),
    ];
  } finally {
    client.close();
    nsd?.kill('SIGTERM');
    await end(vivarium.child);
  }
}

const figure = (measured: string, met: boolean | null, detail: string): Figure => ({
  what: 'random questions about random zones that are answered otherwise than by NSD',
  measured,
  wanted: '0',
  met,
  detail,
});

export type Random = (below: number) => number;

/** A linear congruential generator (Numerical Recipes), so that every run asks the same. */
export function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Makes a zone in Vivarium, writes its export for NSD, and gives names in and about it. */
export async function makeZone(vivarium: Vivarium, folder: string, apex: string, random: Random): Promise<string[]> {
  const owners = new Map<string, string[]>();
  const anyName = (labels: number) => Array.from({ length: labels }, () => LABELS[random(LABELS.length)]).join('.');
  const anyTarget = () => `${anyName(1 + random(3)).replaceAll('*', 'a')}.${apex}.`;
  for (let count = 0; count < RECORDS_PER_ZONE; count++) {
    const owner = anyName(random(4));
    const present = owners.get(owner) ?? [];
    const line = anyRecord(owner, present, random, anyTarget);
    if (line !== null) owners.set(owner, [...present, line]);
  }
  // NSD refuses a zone with records below a DNAME.
  for (const owner of ['r', 'r.a']) if (!owners.has(owner)) owners.set(owner, [`DNAME ${anyTarget()}`]);
  const text = [...owners].flatMap(([owner, lines]) => lines.map((line) => `${owner || '@'} ${line}`)).join('\n');
  await vivarium.call('zones.create', { name: apex });
  await vivarium.call('zones.import', { name: apex, text: `$TTL 600\n${text}` });
  const exported = await vivarium.call<{ text: string }>('zones.export', { name: apex });
  writeFileSync(join(folder, `${apex}.zone`), exported.text);
  const asked = new Set(['', ...owners.keys(), 'a.r', 'b.a.r', 'c.r.a', `${'x'.repeat(60)}.`.repeat(3) + 'r']);
  while (asked.size < NAMES_PER_ZONE) asked.add(anyName(1 + random(4)));
  return [...asked].map((name) => (name === '' ? apex : `${name}.${apex}`));
}

/** Type and data of a record that may stand beside those that are there; null for none. */
function anyRecord(owner: string, present: readonly string[], random: Random, target: () => string): string | null {
  const isAlone = present.some((line) => line.startsWith('CNAME'));
  const kind = random(20);
  if (kind < 2) return owner === '' || present.length > 0 ? null : `CNAME ${target()}`;
  if (isAlone) return null;
  if (kind === 2) return owner === '' || owner.startsWith('*') ? null : `NS ${target()}`;
  if (kind === 3) return `MX ${random(50)} ${target()}`;
  if (kind === 4) return `CAA 0 issue "ca${random(9)}.example"`;
  if (kind === 5) return `TXT "text ${random(99)}"`;
  if (kind === 10)
    return `HTTPS ${random(3)} ${target()} alpn=h2 port=${random(60_000)} ipv4hint=192.0.2.${random(250)}`;
  if (kind === 11) return `SVCB 1 . key667="a\\${100 + random(99)}b"`;
  if (kind === 12) return `SRV ${random(9)} 5 443 ${target()}`;
  if (kind === 13 || kind === 14) return `PTR ${target()}`;
  if (kind === 15) return `TLSA 3 1 1 ${(0x10000000 + random(99_999)).toString(16)}`;
  if (kind === 16) return `NAPTR 100 ${random(99)} "S" "SIP+D2U" "" ${target()}`;
  if (kind === 17) return `SSHFP 4 2 ${(0x10000000 + random(99_999)).toString(16).repeat(8)}`;
  if (kind === 18) return `LOC 52 ${random(60)} 23 N 4 53 32 E ${random(99)}m 1m 10000m 10m`;
  if (kind === 19) return `TYPE65280 \\# 2 ${(0x1000 + random(0xefff)).toString(16)}`;
  return kind < 8 ? `A 192.0.2.${random(250)}` : `AAAA 2001:db8::${(1 + random(250)).toString(16)}`;
}

/** NSD with `NAME.zone` of the folder for each zone. */
export async function startNsd(
  program: string,
  folder: string,
  zones: readonly string[],
  port: number,
  client: DnsClient,
): Promise<ChildProcess> {
  const file = join(folder, 'nsd.conf');
  const inFolder = (name: string) => `"${join(folder, name)}"`;
  const server = [
    `ip-address: 127.0.0.1@${port}`,
    'username: ""',
    `zonesdir: "${folder}"`,
    `pidfile: ${inFolder('pid')}`,
    `xfrdir: "${folder}"`,
    `xfrdfile: ${inFolder('xfrd')}`,
    `zonelistfile: ${inFolder('zones')}`,
    'server-count: 1',
    'minimal-responses: no',
  ];
  const parts = [
    ['server:', ...server],
    ['remote-control:', 'control-enable: no'],
    ...zones.map((name) => ['zone:', `name: ${name}`, `zonefile: ${name}.zone`]),
  ];
  writeFileSync(
    file,
    parts.map(([head, ...lines]) => [head, ...lines.map((line) => `  ${line}`)].join('\n')).join('\n'),
  );
  const child = spawn(program, ['-d', '-c', file], { stdio: 'ignore' });
  const address = { address: '127.0.0.1', port };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`NSD ended with ${child.exitCode}`);
    const reply = await client.ask(address, { name: zones.at(-1) ?? '', type: TYPES.SOA });
    if (reply.kind === 'answered' && reply.rcode === 'NOERROR') return child;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What is different, or null. */
async function compare(
  client: DnsClient,
  ports: { ours: number; peer: number },
  question: { name: string; type: number },
  apex: string,
): Promise<string | null> {
  const [ours, peer] = await Promise.all(
    [ports.ours, ports.peer].map((port) => client.ask({ address: '127.0.0.1', port }, question)),
  );
  if (ours?.kind !== 'answered' || peer?.kind !== 'answered') return 'no answer';
  const lines = (records: typeof ours.answers) => records.map((record) => JSON.stringify(record)).sort();
  // NSD adds addresses from the same zone only; here those of the name server, in the platform's, come too.
  const isInZone = ({ name }: { name: string }) => name === apex || name.endsWith(`.${apex}`);
  // NSD puts the zone's NS beside an answer, which nobody needs.
  const isApexNs = (record: (typeof ours.answers)[number]) => record.name === apex && record.data.type === 'NS';
  const authority = peer.answers.length > 0 ? peer.authority.filter((record) => !isApexNs(record)) : peer.authority;
  const shown = (of: typeof ours, beside = of.authority) =>
    JSON.stringify([
      of.rcode,
      of.flags.includes('aa'),
      lines(of.answers),
      lines(beside),
      lines(of.additional.filter(isInZone)),
    ]);
  const [here, there] = [shown(ours), shown(peer, authority)];
  return here === there ? null : `${here} here, ${there} there`;
}
