import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClock } from '../../../main/base/clock.ts';
import { createDnsClient, type DnsClient, type DnsResult } from '../../../main/dns/client/client.ts';
import { TYPE_CODES } from '../../../main/dns/wire/record.ts';
import { installedPeers, missingPeers, startPeer } from '../dns-peers.ts';
import { end, type Figure, startVivarium, temporaryFolder, type Vivarium } from '../harness.ts';

export const ZONES = 8;
/** The seed and the number of zones; each zone yields 1,400 questions. */
const SEED = Number(process.env.DNS_SEED ?? 20_261_121);
const ASKED_ZONES = Number(process.env.DNS_ZONES ?? ZONES);
const RECORDS_PER_ZONE = 26;
const NAMES_PER_ZONE = 70;
/** ANY is excluded: each server chooses how little it answers (RFC 8482). */
export const TYPES = { ...TYPE_CODES, TYPE65280: 65_280 };
const LABELS = ['a', 'b', 'c', 'd', '*'];
/** How many disagreements are printed. */
const TOLD_MAX = 10;

/**
 * Sends random questions about random zones (wildcards, empty non-terminals, CNAMEs and delegations) to Vivarium and to
 * BIND, NSD and Knot where installed, which serve the zone files that Vivarium exports: counts the questions where part
 * of Vivarium's answer differs from all of theirs.
 */
export async function dnsAgreement(): Promise<Figure[]> {
  const peers = installedPeers();
  const present = peers.map(({ name }) => name).join(', ');
  if (peers.length === 0) return [figure('none', 'not measured', null, missingPeers())];
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const client = createDnsClient(createClock({ onError: () => undefined }));
  const children: ChildProcess[] = [];
  try {
    const random = seeded(SEED);
    const folder = temporaryFolder();
    const zones = new Map<string, string[]>();
    for (let index = 0; index < ASKED_ZONES; index++) {
      const apex = `zone${index}.test`;
      zones.set(apex, await makeZone(vivarium, folder, apex, random));
    }
    const ports: number[] = [];
    for (const peer of peers) {
      const { child, port } = await startPeer(peer, folder, [...zones.keys()], client);
      children.push(child);
      ports.push(port);
    }
    const disagreements: string[] = [];
    let questions = 0;
    for (const [apex, names] of zones) {
      for (const name of names) {
        const types = Object.entries(TYPES);
        const found = await Promise.all(
          types.map(async ([type, code]) => {
            const differs = await compare(client, vivarium.runtime.dns.port, ports, { name, type: code }, apex);
            return differs === null ? [] : [`${name} ${type}: ${differs}`];
          }),
        );
        questions += types.length;
        disagreements.push(...found.flat());
      }
    }
    const measured = `${disagreements.length} of ${questions.toLocaleString('en')}`;
    const told = disagreements.slice(0, TOLD_MAX).join('\n      ');
    const detail = [`rcode, flags and all sections; DNS_SEED=${SEED} DNS_ZONES=${ASKED_ZONES}`, missingPeers(), told];
    return [figure(present, measured, disagreements.length === 0, detail.filter(Boolean).join('; '))];
  } finally {
    client.close();
    for (const child of children) child.kill('SIGTERM');
    await end(vivarium.child);
  }
}

const figure = (peers: string, measured: string, met: boolean | null, detail: string): Figure => ({
  what: `random questions about random zones that are answered otherwise than other servers agree (${peers})`,
  measured,
  wanted: '0',
  met,
  detail,
});

export type Random = (below: number) => number;

/** A linear congruential generator (Numerical Recipes), so that every run asks the same questions. */
export function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Creates a zone in Vivarium, writes its export for NSD, and returns names in and around it. */
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

/** Type and data of a record that may coexist with the present ones; null if none may. */
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

type Answered = Extract<DnsResult, { kind: 'answered' }>;

/** The parts of an answer where the others agree and Vivarium differs, with both values; null if there are none. */
async function compare(
  client: DnsClient,
  ownPort: number,
  peerPorts: readonly number[],
  question: { name: string; type: number },
  apex: string,
): Promise<string | null> {
  const replies = await Promise.all(
    [ownPort, ...peerPorts].map((port) => client.ask({ address: '127.0.0.1', port }, question)),
  );
  const [ours, ...others] = replies.map((reply) => (reply.kind === 'answered' ? partsOf(reply, apex) : null));
  const [first, ...rest] = others;
  if (ours === undefined || ours === null || first === undefined || first === null) return 'no answer';
  const differing = Object.entries(first).filter(
    ([part, text]) => ours[part] !== text && rest.every((other) => other?.[part] === text),
  );
  if (differing.length === 0) return null;
  return differing.map(([part, text]) => `${part} ${ours[part]} here, ${text} there`).join(', ');
}

function partsOf(reply: Answered, apex: string): Record<string, string> {
  const lines = (records: Answered['answers']) =>
    JSON.stringify(records.map((record) => JSON.stringify(record)).sort());
  // Others add addresses only from the same zone; here the name server's addresses, in the platform zone, come too.
  const isInZone = ({ name }: { name: string }) => name === apex || name.endsWith(`.${apex}`);
  // Some put the zone's NS beside an answer, which no client needs.
  const isApexNs = (record: Answered['answers'][number]) => record.name === apex && record.data.type === 'NS';
  const isPositive = reply.answers.length > 0;
  return {
    rcode: reply.rcode,
    flags: reply.flags.join(' '),
    answer: lines(reply.answers),
    authority: lines(reply.authority.filter((record) => !isPositive || !isApexNs(record))),
    additional: lines(reply.additional.filter(isInZone)),
  };
}
