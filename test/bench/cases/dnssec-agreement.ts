import { type ChildProcess, execFile, execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClock } from '../../../main/base/clock.ts';
import type { ZoneDnssec } from '../../../main/contract/zones.ts';
import { createDnsClient, type DnsClient, type DnsResult } from '../../../main/dns/client.ts';
import type { ResponseRecord } from '../../../main/dns/message-reader.ts';
import { TYPE_CODES } from '../../../main/dns/record.ts';
import { ended, startUnbound } from '../../support/dns-unbound.ts';
import { findTool } from '../../support/tools.ts';
import { NSD, startPeer } from '../dns-peers.ts';
import { end, type Figure, startVivarium, temporaryFolder } from '../harness.ts';
import { makeZone, seeded, TYPES, ZONES } from './dns-agreement.ts';

const PROGRAMS = ['nsd', 'ldns-keygen', 'ldns-signzone', 'unbound', 'delv'];
const LENGTH_MAX = 100;
/** Concurrent `delv` processes. */
const DELV_AT_ONCE = 4;
/** How many disagreements are printed. */
const TOLD_MAX = 10;
const OK = { dnssecOk: true };

type Answered = Extract<DnsResult, { kind: 'answered' }>;

interface Asked {
  name: string;
  type: string;
  code: number;
  apex: string;
}

/**
 * Random questions about random signed zones: how many answers differ from NSD's, which serves the zones as signed by
 * `ldns-signzone`, and how many unbound and `delv` fail to validate.
 */
export async function dnssecAgreement(): Promise<Figure[]> {
  const missing = PROGRAMS.filter((name) => findTool(name) === null);
  if (missing.length > 0) return [figure('are not measured', null, null, `missing: ${missing.join(', ')}`)];
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const folder = temporaryFolder();
  const client = createDnsClient(createClock({ onError: () => undefined }));
  const children: ChildProcess[] = [];
  try {
    const random = seeded(20_261_122);
    const askBoth = (one: number, other: number, asked: Asked) =>
      Promise.all([askAt(client, one, asked), askAt(client, other, asked)]);
    const signings = new Map<string, ZoneDnssec>();
    const peerAnchors = new Map<string, string>();
    const questions: Asked[] = [];
    for (let index = 0; index < ZONES; index++) {
      const apex = `zone${index}.test`;
      const names = await makeZone(vivarium, folder, apex, random);
      signings.set(apex, await vivarium.call<ZoneDnssec>('zones.dnssec', { name: apex, signed: true }));
      peerAnchors.set(apex, signZone(folder, apex));
      // NSD 4.6 denies the target of a DNAME without the proof for such a long name.
      for (const name of names.filter(({ length }) => length <= LENGTH_MAX)) {
        for (const [type, code] of Object.entries(TYPES)) questions.push({ name, type, code, apex });
      }
    }
    const { child, port } = await startPeer(NSD, folder, [...signings.keys()], client);
    children.push(child);
    const anchors = new Map([...signings].map(([apex, { anchors: texts }]) => [apex, texts?.unbound ?? '']));
    const unbound = await startUnbound(folder, vivarium.runtime.dns.port, anchors);
    const beside = await startUnbound(temporaryFolder(), port, peerAnchors);
    children.push(unbound.child, beside.child);
    const differing: string[] = [];
    const unvalidated: string[] = [];
    const forDelv: Asked[] = [];
    let neither = 0;
    for (const asked of questions) {
      const [ours, peer] = await askBoth(vivarium.runtime.dns.port, port, asked);
      const isComplete = ends(ours, asked);
      const [byUnbound, besideUnbound] = isComplete ? await askBoth(unbound.port, beside.port, asked) : [null, null];
      const isValid = (reply: Answered | null) => reply?.rcode === ours?.rcode && reply?.flags.includes('ad') === true;
      if (isComplete && !isValid(besideUnbound)) {
        // unbound refuses NSD's answers too where CNAME or DNAME is asked for below a DNAME.
        if (!isValid(byUnbound)) neither++;
        continue;
      }
      if (shown(ours, asked.apex) !== shown(peer, asked.apex)) {
        differing.push(
          `${asked.name} ${asked.type}: ${shown(ours, asked.apex)} here, ${shown(peer, asked.apex)} there`,
        );
      }
      if (!isComplete) continue;
      forDelv.push(asked);
      if (!isValid(byUnbound)) unvalidated.push(`${asked.name} ${asked.type}: ${byUnbound?.rcode}`);
    }
    const refused = await delvRefuses(folder, vivarium.runtime.dns.port, signings, forDelv);
    return [
      figure('are answered otherwise than by NSD', differing, questions.length),
      figure('are not validated by unbound', unvalidated, forDelv.length, `besides ${neither} of neither server`),
      figure('are not validated by delv', refused, forDelv.length),
    ];
  } finally {
    client.close();
    for (const child of children) await ended(child);
    await end(vivarium.child);
  }
}

function figure(what: string, found: readonly string[] | null, of: number | null, detail = ''): Figure {
  return {
    what: `random questions about random signed zones that ${what}`,
    measured: found === null ? 'not measured' : `${found.length} of ${of}`,
    wanted: '0',
    met: found === null ? null : found.length === 0,
    detail: found?.slice(0, TOLD_MAX).join('\n      ') || detail || 'all sections, without the octets of signatures',
  };
}

/** Signs a zone file in place with a new key, and returns the key's DS. */
function signZone(folder: string, apex: string): string {
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const key = execFileSync('ldns-keygen', ['-a', 'ECDSAP256SHA256', '-k', apex], options).trim();
  execFileSync('ldns-signzone', ['-f', `${apex}.signed`, `${apex}.zone`, key], options);
  renameSync(join(folder, `${apex}.signed`), join(folder, `${apex}.zone`));
  return readFileSync(join(folder, `${key}.ds`), 'utf8');
}

async function askAt(client: DnsClient, port: number, { name, code }: Asked): Promise<Answered | null> {
  const reply = await client.ask({ address: '127.0.0.1', port }, { name, type: code, ...OK });
  return reply.kind === 'answered' ? reply : null;
}

/** Whether a resolver can finish with the answer: it leads neither out of the zones nor in a circle. */
function ends(reply: Answered | null, { name, code, apex }: Asked): boolean {
  if (reply === null || (code === TYPE_CODES.DS && name === apex)) return false;
  const isFound = reply.answers.some(({ data }) => typeOf(data) === code);
  return isFound || reply.authority.some(({ data }) => data.type === 'SOA');
}

const typeOf = ({ type }: ResponseRecord['data']): number =>
  (TYPES as Record<string, number>)[type] ?? Number(type.slice('TYPE'.length));

/**
 * The answer without what depends on the key: no DNSKEY, and of a signature only what it covers, its labels and its
 * TTL.
 */
function shown(reply: Answered | null, apex: string): string {
  if (reply === null) return 'no answer';
  const isInZone = ({ name }: ResponseRecord) => name === apex || name.endsWith(`.${apex}`);
  const isApexNs = ({ name, data }: ResponseRecord) =>
    name === apex && (data.type === 'NS' || covered(data) === TYPE_CODES.NS);
  // NSD puts the zone's NS beside an answer, which no client needs.
  const authority = reply.answers.length > 0 ? reply.authority.filter((each) => !isApexNs(each)) : reply.authority;
  const lines = (records: readonly ResponseRecord[]) => records.map(lineOf).sort();
  return JSON.stringify([
    reply.rcode,
    reply.flags.includes('aa'),
    lines(reply.answers),
    lines(authority),
    lines(reply.additional.filter(isInZone)),
  ]);
}

function lineOf(record: ResponseRecord): string {
  const { name, ttlSeconds, data } = record;
  if (covered(data) === null || !('octets' in data)) return JSON.stringify(record);
  const start = Buffer.from(data.octets.slice(0, 8), 'latin1').toString('hex');
  return `${name} ${ttlSeconds} RRSIG ${start}`;
}

/** The type that a signature covers; null for other records. */
const covered = (data: ResponseRecord['data']): number | null =>
  data.type === 'TYPE46' && 'octets' in data ? data.octets.charCodeAt(0) * 256 + data.octets.charCodeAt(1) : null;

/** The questions that `delv` fails to validate. */
async function delvRefuses(
  folder: string,
  port: number,
  signings: ReadonlyMap<string, ZoneDnssec>,
  questions: readonly Asked[],
): Promise<string[]> {
  const run = promisify(execFile);
  for (const [apex, { anchors }] of signings) writeFileSync(join(folder, `${apex}.anchor`), anchors?.delv ?? '');
  const refused: string[] = [];
  const left = [...questions];
  const work = async () => {
    for (let asked = left.pop(); asked !== undefined; asked = left.pop()) {
      const { name, type, apex } = asked;
      const anchor = ['-a', join(folder, `${apex}.anchor`), `+root=${apex}`];
      const args = ['@127.0.0.1', '-p', String(port), ...anchor, '-q', name, '-t', type];
      const said = await run('delv', args).then(
        ({ stdout, stderr }) => `${stdout}${stderr}`,
        (error: unknown) => String(error),
      );
      if (!said.includes('fully validated') || said.includes('unsigned')) {
        refused.push(`${name} ${type}: ${said.split('\n')[0]}`);
      }
    }
  };
  await Promise.all(Array.from({ length: DELV_AT_ONCE }, work));
  return refused;
}
