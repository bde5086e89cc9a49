import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DesktopFacts } from '../../../main/base/system/desktop.ts';
import type { SystemAnswer } from '../../../main/base/system/system-names.ts';
import type { StoreTrust } from '../../../main/contract/certificates.ts';
import type { DoctorCheck } from '../../../main/contract/doctor.ts';
import type { Check, Domain } from '../../../main/contract/domains.ts';
import {
  evaluateBrowser,
  evaluateNoStores,
  evaluateStore,
  evaluateRoot,
  evaluateRootKey,
  type RootEvidence,
  type RootKeyEvidence,
} from '../../../main/doctor/root.ts';
import {
  evaluateAppClock,
  evaluateMachineClock,
  evaluateOpenFiles,
  evaluateVersions,
} from '../../../main/doctor/system.ts';
import {
  evaluateDisk,
  evaluateFolder,
  evaluateLogs,
  type BackupsEvidence,
  evaluateBackups,
  evaluateDatabase,
} from '../../../main/doctor/data-folder.ts';
import { evaluateDesktop, evaluateAbsence, evaluateRunning, evaluateWarnings } from '../../../main/doctor/engine.ts';
import type { AbsenceEvidence } from '../../../main/doctor/engine.ts';
import { evaluateDnsServer, evaluateLocalhost, evaluateResolver, evaluateSystem } from '../../../main/doctor/dns.ts';
import type { Reply } from '../../../main/doctor/dns.ts';
import { evaluateDomain, evaluatePlatform, evaluateUpstream } from '../../../main/doctor/domains.ts';
import type { Handshake, HandshakeResult } from '../../../main/doctor/handshake.ts';
import type { MetBreak } from '../../../main/doctor/finding.ts';
import { evaluateListener, evaluateFreePort, mayListen } from '../../../main/doctor/ports.ts';
import type { ListenerEvidence, PortName } from '../../../main/doctor/ports.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 20, 9);

/** The whole text of a check. */
const said = ({ evidence, fix, commands, otherwise }: DoctorCheck): string =>
  [...evidence, fix ?? '', commands ?? '', ...(otherwise === undefined ? [] : ['or', otherwise])].join('\n');

/** Every failed check tells what to do, and a passed one has no fix. */
function expectCheck(check: DoctorCheck, status: DoctorCheck['status'], words: RegExp): void {
  expect([check.status, said(check)]).toEqual([status, expect.stringMatching(words)]);
  expect(check.evidence.length).toBeGreaterThan(0);
  if (status === 'failed' || status === 'warning') expect(check.fix).toMatch(/\.$/);
  if (status === 'ok') expect(check.fix).toBeUndefined();
}

type Status = DoctorCheck['status'];

const HTTP: PortName = { name: 'http', title: 'HTTP', port: 8080, option: '--http-port' };
const NGINX = { pid: 9, name: 'nginx' };

describe('a listener', () => {
  const evidence = (changes: Partial<ListenerEvidence>): ListenerEvidence => ({
    port: HTTP,
    pid: 7,
    holder: { pid: 7, name: 'node' },
    answers: [
      { address: '127.0.0.1', answer: { status: 200 } },
      { address: '::1', answer: { status: 200 } },
    ],
    expected: 200,
    warnings: [],
    ...changes,
  });

  const at = (address: string, answer: ListenerEvidence['answers'][number]['answer']) => ({
    answers: [{ address, answer }],
  });
  it.each<[string, Partial<ListenerEvidence>, Status, RegExp]>([
    ['answers at both addresses', {}, 'ok', /\[::1\]:8080 answers\.\nPort 8080 is held by node \(pid 7\), this Viv/],
    ['and its holder is unknown', { holder: null }, 'ok', /answers/],
    ['is silent at one address', at('::1', { reason: 'nobody' }), 'failed', /\[::1\]:8080 gives no answer: nobody\./],
    ['answers like another server', at('127.0.0.1', { status: 404 }), 'failed', /answers with 404 instead of 200/],
    ['is another program', { holder: NGINX }, 'failed', /nginx \(pid 9\), another.*\nStop nginx/s],
    ['has no IPv6', { warnings: ['::1 is not available.'] }, 'warning', /::1 is not available/],
  ])('%s', (_what, changes, status, words) => {
    expectCheck(evaluateListener(evidence(changes)), status, words);
  });
});

describe('a port for the next start', () => {
  type Evidence = Parameters<typeof evaluateFreePort>[0];
  const free: Evidence = { port: HTTP, taken: [], holder: null, permitted: true, pid: null };
  const low = { port: { ...HTTP, port: 80 }, permitted: false };
  it.each<[string, Partial<Evidence>, Status, RegExp]>([
    ['free', {}, 'ok', /is free/],
    ['free, and low', low, 'failed', /reserved for administrators[^]*--http-port and a port above/],
    ['any', { port: { ...HTTP, port: 0 } }, 'ok', /any free port/],
    [
      'taken by a known program',
      { taken: ['127.0.0.1'], holder: NGINX },
      'failed',
      /127\.0\.0\.1:8080 is held by nginx \(pid 9\)\.\n.*--http-port.*\nvivarium start --http-port 0/,
    ],
    ['taken by another', { taken: ['127.0.0.1', '::1'] }, 'failed', /127.* and \[::1\]:8080 are held by a pro/],
    ['taken over UDP', { holder: NGINX }, 'failed', /Port 8080 is held by nginx/],
    ['its own', { taken: ['::1'], holder: NGINX, pid: 9 }, 'skipped', /held by the Vivarium of this data folder/],
    ['taken beside its own', { taken: ['::1'], holder: NGINX, pid: 8 }, 'failed', /is held by nginx \(pid 9\)/],
  ])('is %s', (_what, changes, status, words) => {
    expectCheck(evaluateFreePort({ ...free, ...changes }), status, words);
  });

  it.each([
    ['1024', '0000000000000000', false],
    ['80', '0000000000000000', true],
    ['1024', '0000000000000400', true],
  ])('below 1024 needs Linux’s permission: from %s on, with the rights %s', (start, rights, permitted) => {
    const proc = temporaryFolder();
    mkdirSync(join(proc, 'sys/net/ipv4'), { recursive: true });
    mkdirSync(join(proc, 'self'));
    writeFileSync(join(proc, 'sys/net/ipv4/ip_unprivileged_port_start'), `${start}\n`);
    writeFileSync(join(proc, 'self/status'), `Name:\tnode\nCapEff:\t${rights}\n`);
    expect(mayListen(443, 'linux', proc)).toBe(permitted);
    expect(mayListen(8080, 'linux', proc)).toBe(true);
    expect(mayListen(443, 'win32', proc)).toBe(true);
  });
});

describe('the DNS server', () => {
  const right: Reply = { rcode: 'NOERROR', values: ['127.0.0.1'] };
  it.each([
    ['right', right, 'ok', /\[::1\]:5380 over TCP answers cname\.test A with 127\.0\.0\.1\./],
    ['silent', { reason: 'timeout' }, 'failed', /TCP gives no answer: timeout\.\n.*\ndig \+short @127.0.0.1 -p 5380/],
    ['refusing', { rcode: 'REFUSED', values: [] }, 'failed', /answers cname\.test A with REFUSED instead of 127/],
    ['leading elsewhere', { rcode: 'NOERROR', values: ['10.0.0.1'] }, 'failed', /with NOERROR 10\.0\.0\.1 instead/],
  ] as const)('is %s over one transport', (_what, reply, status, words) => {
    const replies = [
      { address: '127.0.0.1', transport: 'udp', reply: right },
      { address: '::1', transport: 'tcp', reply },
    ] as const;
    expectCheck(evaluateDnsServer({ port: 5380, name: 'cname.test', expected: '127.0.0.1', replies }), status, words);
  });

  it.each([
    [null, 'ok', /own DNS server/],
    [{ place: '192.0.2.1:53', reply: { rcode: 'REFUSED', values: [] } }, 'ok', /192\.0\.2\.1:53, the setting/],
    [{ place: '192.0.2.1:53', reply: { reason: 'timeout' } }, 'failed', /--resolver local/],
  ] as const)('with the setting %j', (foreign, status, words) => {
    expectCheck(evaluateResolver({ foreign }), status, words);
  });
});

const system = (addresses: readonly string[], line?: number): SystemAnswer => ({
  addresses,
  reason: addresses.length === 0 ? 'there is no such name' : null,
  hosts: line === undefined ? null : { file: '/etc/hosts', line, address: addresses.at(-1) ?? '' },
});

it.each([
  [system(['127.0.0.1', '::1']), 'linux', 'ok', /to 127\.0\.0\.1, ::1\./],
  [system(['::ffff:127.0.0.1']), 'linux', 'ok', /resolves/],
  [system([]), 'linux', 'warning', /apt install libnss-myhostname\nor\necho '127.* d\.test' \| sudo tee -a \/etc\/h/],
  [system([]), 'darwin', 'warning', /tee -a \/etc\/hosts/],
  [system([]), 'win32', 'warning', /PowerShell.*\nAdd-Content "\$env:windir\\.*hosts" '127\.0\.0\.1 d\.test'/],
  [system(['127.0.0.1', '203.0.113.9']), 'linux', 'failed', /203\.0\.113\.9\. That is not this machine/],
  [system(['203.0.113.9'], 4), 'linux', 'failed', /according to line 4 of \/etc\/hosts.*Remove line 4/s],
] as const)('*.localhost with the system’s answer %j on %s', (answer, platform, status, words) => {
  expectCheck(evaluateLocalhost({ hostnames: ['d.test'], answer, platform }), status, words);
});

const met = (entry: string, at: MetBreak['at']): MetBreak => ({
  ...{ id: `brk_${entry}`, entry, title: 'Expired', until: '2026-11-20T09:10:00.000Z', at },
});
const EXPIRED = met('tls.expired', 'handshake');
const NAMES = met('dns.nxdomain', 'question');
const REQUESTS = met('http.status', 'request');

/** First the break, then what was found; its repair is all that is to do. */
const OF_BREAK = (entry: string, found: string): RegExp =>
  RegExp(
    `^Broken on purpose: Expired \\(${entry}.*, until 2026-11-20T09:10:00.000Z.\n${found}.*` +
      `\nRepair the break, or wait until it ends: [^\\n]*\nvivarium break off brk_${entry}[^\n]*$`,
    's',
  );

describe('custom domains on this system', () => {
  const here = { hostname: 'here.test', breaks: [NAMES], answer: system(['127.0.0.1']) };
  const unknown = { hostname: 'unknown.test', breaks: [], answer: system([]) };
  const misled = (hostname: string) => ({ hostname, breaks: [NAMES], answer: system(['203.0.113.9'], 12) });
  const elsewhere = { hostname: 'b.test', breaks: [], answer: system(['::1', '2001:db8::9']) };
  it.each([
    [[], false, 'ok', /No custom domain is served/],
    [[here, unknown], true, 'ok', /any of them to another machine\.\s+Only the first 2/],
    [
      [here, misled('a.test')],
      false,
      'warning',
      /a\.test to 203\.0\.113\.9, as line 12 of \/etc\/hosts says\..*so does Firefox.*Remove line 12 of \/etc\/hosts, or change/s,
    ],
    [
      [misled('a.test'), misled('b.test')],
      false,
      'warning',
      /^(?!.*Remove line.*Remove line).*a\.test to .*b\.test to /s,
    ],
    [[elsewhere], false, 'warning', /b\.test to 2001:db8::9, as its DNS says\..*\nvivarium machine plan b\.test/s],
    [[{ ...elsewhere, breaks: [NAMES] }], false, 'warning', OF_BREAK('dns', 'This system leads b.test')],
  ] as const)('%#', (asked, hasMore, status, words) => {
    expectCheck(evaluateSystem({ asked, hasMore }), status, words);
  });
});

const HANDSHAKE: Handshake = {
  ok: true,
  protocol: 'TLSv1.3',
  distrust: null,
  named: true,
  fingerprint: 'AB:CD',
  notAfterMs: NOW_MS + 90 * DAY_MS,
  status: 200,
};
const REFUSED: HandshakeResult = { ok: false, refusal: 'unrecognized_name', reason: 'alert' };

describe('a domain', () => {
  type Evidence = Parameters<typeof evaluateDomain>[0];
  const leaf = { fingerprint: 'AB:CD', notBeforeMs: NOW_MS, notAfterMs: NOW_MS + 90 * DAY_MS };
  const served: Evidence['domain'] = {
    ...{ hostname: 'shop.test', projectId: 'prj_1', state: 'verified', certificate: { state: 'issued' } },
    ...{ checks: [], serving: { http: true, https: true } },
  };
  const unserved = { ...served, serving: { http: false, https: false } };
  const wrong: Check = { code: 'wrong_target', outcome: 'failed', message: 'It leads elsewhere.', fix: 'Change it.' };
  const pending = { state: 'pending' } as const;
  const caaForbids = { ...pending, reason: 'caa_forbids' } as const;
  const refused = (domain: Partial<Domain>) => ({ domain: { ...unserved, ...domain }, leaf: null, handshake: REFUSED });
  const shown = (handshake: Partial<Handshake>) => ({ handshake: { ...HANDSHAKE, ...handshake } });
  const silent: HandshakeResult = { ok: false, refusal: null, reason: 'nothing is listening there' };

  it.each<[string, Partial<Evidence>, Status, RegExp]>([
    ['is served', {}, 'ok', /TLSv1\.3.*until 2027-02-18/],
    ['moved away, and is still served', { domain: { ...served, checks: [wrong] } }, 'warning', /elsewhere/],
    ['is refused', { handshake: REFUSED }, 'failed', /failed: alert.*\n.*\nvivarium certificate renew shop\.test/],
    ['has another root', shown({ distrust: 'SELF_SIGNED_CERT_IN_CHAIN' }), 'failed', /at our root: SELF_SIGNED_CERT/],
    ['shows an expired leaf', shown({ distrust: 'CERT_HAS_EXPIRED' }), 'failed', /^The certificate .* has expired\.\n/],
    [
      'shows a wrong leaf',
      shown({ distrust: 'INVALID_PURPOSE' }),
      'failed',
      /Clients refuse its certificate: INVALID_/,
    ],
    ['has another name', shown({ named: false }), 'failed', /not for shop\.test/],
    ['shows another leaf', shown({ fingerprint: 'EE' }), 'failed', /a different certificate/],
    ['has no leaf', { leaf: null }, 'failed', /has no certificate/],
    ['has run out on the app’s clock', { nowMs: NOW_MS + 91 * DAY_MS }, 'failed', /On the simulated clock/],
    ['gives no answer', shown({ status: null }), 'failed', /got no answer/],
    ['is misdirected', shown({ status: 421 }), 'failed', /with 421 instead of 200/],
    [
      'is misconfigured, and refused',
      refused({ state: 'misconfigured', checks: [wrong] }),
      'warning',
      /It is misconfigured\.\nIt leads elsewhere\.\nSo HTTPS is refused.*unrecognized_name.*\nChange it\. Then verify it again\.\nvivarium domain verify shop/s,
    ],
    ['waits', refused({ certificate: pending }), 'warning', /verified, but its certificate is pending/],
    ['is refused', refused({ certificate: caaForbids }), 'warning', /verified, but its certificate is refused/],
    ['is served without a reason', { domain: { ...unserved, ...pending }, leaf: null }, 'failed', /although/],
    [
      'is not served, nor anything',
      { ...refused(pending), handshake: silent },
      'failed',
      /failed: nothing is listening/,
    ],
  ])('%s', (_what, changes, status, words) => {
    const check = evaluateDomain({
      ...{ domain: served, leaf, handshake: HANDSHAKE, breaks: [] },
      nowMs: NOW_MS,
      ...changes,
    });
    expectCheck(check, status, words);
    expect(check).toMatchObject({ id: 'domains.shop.test', projectId: 'prj_1' });
    expect(check.down).toBe(/^It is (mis|.*refused)/.test(check.evidence[0] ?? '') || undefined);
  });

  it('that is a wildcard is named in quotes in commands', () => {
    const domain = { ...served, hostname: '*.shop.test', example: 'www.shop.test' };
    const handshake = { ...HANDSHAKE, named: false };
    const check = evaluateDomain({ domain, leaf, handshake, breaks: [], nowMs: NOW_MS });
    expectCheck(check, 'failed', /not for www\.shop\.test\.[^]*\nvivarium certificate renew '\*\.shop\.test'$/);
  });

  it('of the platform, with one failure', () => {
    const good = { hostname: 'demo.test', handshake: HANDSHAKE, breaks: [] };
    expectCheck(evaluatePlatform({ handshakes: [good], untried: 3 }), 'ok', /demo\.test: TLSv1\.3.*\n3 more were not/);
    const bad = { hostname: 'bad.test', handshake: REFUSED, breaks: [] };
    expectCheck(evaluatePlatform({ handshakes: [good, bad], untried: 0 }), 'failed', /bad\.test: the handshake failed/);
    const broken = { hostname: 'bad.test', handshake: null, breaks: [EXPIRED] };
    const words = /^Broken on purpose: Expired \(tls\.expired\).*\nvivarium break off brk_tls\.expired$/s;
    expectCheck(evaluatePlatform({ handshakes: [good, broken], untried: 0 }), 'warning', words);
    expectCheck(evaluatePlatform({ handshakes: [bad, broken], untried: 0 }), 'failed', /Start Vivarium again/);
  });

  it.each<[string, MetBreak, Partial<Evidence>, RegExp, true?]>([
    ['strikes', EXPIRED, { handshake: null }, OF_BREAK('tls.expired', 'No handshake was tried')],
    [
      'strikes, though it is not served',
      EXPIRED,
      { ...refused({ checks: [wrong] }), handshake: null },
      OF_BREAK('tls.expired', 'It is verified'),
    ],
    [
      'strikes its record',
      NAMES,
      refused({ state: 'misconfigured', checks: [wrong] }),
      OF_BREAK('dns', 'It is mis'),
      true,
    ],
    ['strikes its requests', REQUESTS, {}, OF_BREAK('http.status', 'TLSv1')],
    // The check has another cause.
    ['strikes its requests only', REQUESTS, refused({ checks: [wrong] }), /^Broken .*leads elsewhere.*domain verify/s],
  ])('that a break %s says so, until when, and how to repair it', (_how, found, changes, words, down) => {
    const seen = { domain: served, leaf, handshake: HANDSHAKE, nowMs: NOW_MS, ...changes };
    const check = evaluateDomain({ ...seen, breaks: [found] });
    expectCheck(check, 'warning', words);
    expect(check).toMatchObject({ id: 'domains.shop.test', projectId: 'prj_1' });
    expect(check.down).toBe(down);
  });
});

describe('an upstream', () => {
  const project = { id: 'prj_1', slug: 'shop', name: 'Shop' };
  const problem = { status: 502, what: 'Nothing listens at it.', remedy: 'Start it.' };
  it.each([
    [null, 'ok', /http:\/\/localhost:5173 accepts connections/],
    // What its commands do is said beside them: on the page they are folded.
    [problem, 'warning', /Nothing listens at it\.\nRequests are answered with 502\.\nStart it\.\n.*deploy create shop/],
  ] as const)('with the problem %j', (found, status, words) => {
    const check = evaluateUpstream({ project, url: 'http://localhost:5173', problem: found });
    expectCheck(check, status, words);
    expect(check).toMatchObject({ id: 'upstreams.shop', projectId: 'prj_1', title: 'Target of Shop' });
    expect(check.about).toEqual(found === null ? undefined : expect.stringContaining('The first command'));
  });
});

describe('a trust store', () => {
  const store = { store: 'nss:user', title: 'Chromium', state: 'untrusted', message: 'As it is.' } as const;
  const otherRoots = [{ name: 'x', fingerprint: 'AB:CD' }];
  it.each<[Partial<StoreTrust>, Status, RegExp]>([
    [{ state: 'trusted' }, 'ok', /As it is/],
    [{}, 'warning', /vivarium ca trust nss:user/],
    [{ handshake: 'refused' }, 'warning', /ca untrust nss:user\n.*ca trust nss:user/],
    [{ command: 'sudo x\nsudo y', needs: 'a password' }, 'warning', /a password.*\nsudo x\nsudo y/],
    [{ state: 'trusted', superseded: true }, 'warning', /vivarium ca trust nss:user/],
    [{ state: 'trusted', store: 'nss:firefox:a b', otherRoots }, 'warning', /untrust 'nss:firefox:a b' --f.* AB:CD/],
    [{ state: 'unavailable', needs: 'certutil' }, 'skipped', /It needs certutil/],
    [{ state: 'other_root' }, 'warning', /ca trust/],
  ])('%j', (changes, expected, words) => {
    expectCheck(evaluateStore({ ...store, ...changes }, 'linux'), expected, words);
  });

  it('that does not exist', () => {
    expectCheck(evaluateNoStores(), 'skipped', /--cacert/);
  });
});

describe('the clocks', () => {
  it.each([
    [0, false, 'ok', /real time/],
    [2 * DAY_MS, false, 'warning', /moved: 2026-11-22T09.*, 2 days ahead of.*\n.*\n.*\nvivarium clock reset/],
    [-DAY_MS, false, 'warning', /1 day behind/],
    [0, true, 'warning', /frozen/],
  ] as const)('the app’s, %i ms off, frozen: %s', (offsetMs, frozen, status, words) => {
    expectCheck(evaluateAppClock({ now: NOW_MS + offsetMs, realNow: NOW_MS, offsetMs, frozen }), status, words);
  });

  it.each([
    [[], 'ok', /It shows 2026-11-20/],
    [[{ what: 'the root was made', atMs: NOW_MS + 60_000 }], 'ok', /It shows/],
    [[{ what: 'the root was made', atMs: NOW_MS + DAY_MS }], 'failed', /But the root was made at 2026-11-21/],
  ] as const)('the machine’s, after %j', (past, status, words) => {
    expectCheck(evaluateMachineClock({ realNowMs: NOW_MS, past }), status, words);
  });
});

describe('the data folder', () => {
  const space = { totalBytes: 100e9, freeBytes: 50e9, totalFiles: 1_000_000, freeFiles: 900_000 };
  it.each([
    [space, 'ok', /50\.0 GB of 100 GB is free/],
    [{ ...space, freeBytes: 500e6 }, 'warning', /500 MB/],
    [{ ...space, freeBytes: 3e6 }, 'failed', /3\.0 MB/],
    [{ ...space, freeFiles: 5 }, 'failed', /Only 5 more files/],
    // btrfs does not count them.
    [{ ...space, totalFiles: 0, freeFiles: 0 }, 'ok', /free/],
    [null, 'skipped', /does not report/],
  ] as const)('has %j', (given, status, words) => {
    expectCheck(evaluateDisk({ path: '/d', space: given }), status, words);
  });

  const folder = { path: '/d', exists: true, noFolder: false, denied: [], open: [] };
  const open = [{ path: '/d x/demo-key.json', mode: 0o644, wanted: 0o600 }];
  it.each([
    [folder, 'ok', /can be written/],
    [{ ...folder, exists: false }, 'skipped', /first start creates it/],
    [{ ...folder, noFolder: true }, 'failed', /\/d is not a folder/],
    [{ ...folder, denied: [{ path: '/d', reason: 'EROFS' }] }, 'failed', /\(EROFS\).*chmod -R u\+rwX \/d/s],
    [
      { ...folder, open },
      'failed',
      /mode 0644; other users can read it\..* 0600.*\nchmod 600 '\/d x\/demo-key\.json'$/s,
    ],
  ] as const)('is %j', (evidence, status, words) => {
    expectCheck(evaluateFolder(evidence), status, words);
  });

  it('has logs, or tells where they would be', () => {
    expectCheck(evaluateLogs({ path: '/d/logs', files: 2, bytes: 3_400 }), 'ok', /In \/d\/logs: 2 files, 3\.4 kB/);
    expectCheck(evaluateLogs({ path: '/d/logs', files: 0, bytes: 0 }), 'ok', /None in \/d\/logs/);
  });
});

describe('the database', () => {
  it.each([
    [{ state: 'whole' }, 'ok', /d\.db, 1\.0 MB: every page/],
    [{ state: 'partly', rows: 12_000 }, 'ok', /first 12,000 rows/],
    [{ state: 'unread', why: 'it is large.' }, 'skipped', /it is large/],
    [{ state: 'damaged', what: 'page 3' }, 'failed', /damaged: page 3\.\n.*newest backup.*\ncp a b/],
  ] as const)('that is %j', (integrity, status, words) => {
    expectCheck(evaluateDatabase({ path: '/d.db', bytes: 1e6, integrity, restore: ['cp a b'] }), status, words);
  });

  it('that does not exist, or has no backup', () => {
    const integrity = { state: 'damaged', what: 'x' } as const;
    expectCheck(evaluateDatabase({ path: null, bytes: null, integrity, restore: null }), 'skipped', /ephemeral/);
    const unread = { state: 'unread', why: 'x' } as const;
    const absent = { path: '/d.db', bytes: null, restore: null };
    expectCheck(evaluateDatabase({ ...absent, integrity: unread }), 'skipped', /no \/d\.db/);
    expectCheck(evaluateDatabase({ ...absent, integrity }), 'failed', /\/d\.db is damaged: x/);
    expectCheck(evaluateDatabase({ path: '/d.db', bytes: 1, integrity, restore: null }), 'failed', /\.recover/);
  });

  const backup = { path: '/b/1.db', bytes: 5_000, writtenAtMs: NOW_MS - DAY_MS, schema: 6, fault: null };
  const evidence: BackupsEvidence = {
    folder: '/b',
    backups: [backup],
    realNowMs: NOW_MS,
    databaseMadeAtMs: NOW_MS - 9 * DAY_MS,
    databaseBytes: 5_000,
    dailyBytesMax: 1_000_000,
  };
  const old = { ...backup, path: '/b/0.db', fault: 'it is cut off' };
  it.each([
    ['one of yesterday', {}, 'ok', /1 in \/b; the newest was written 1 day ago, 5\.0 kB\.\n.*schema 6/],
    ['none', { backups: [] }, 'warning', /There is none in \/b\.\nStart Vivarium again/],
    ['none of a large database', { backups: [], databaseBytes: 2e6 }, 'warning', /larger than 1\.0 MB/],
    ['none yet', { backups: [], databaseMadeAtMs: NOW_MS }, 'ok', /first one is made a few seconds after/],
    ['nothing to back up', { backups: [], databaseMadeAtMs: null }, 'skipped', /nothing to back up/],
    ['nothing to keep', { backups: null }, 'skipped', /ephemeral/],
    ['an old one', { backups: [{ ...backup, writtenAtMs: NOW_MS - 8 * DAY_MS }] }, 'warning', /8 days ago/],
    ['a newest one that is cut off', { backups: [old, backup] }, 'failed', /0\.db can’t be restored: it is cut off/],
  ] as const)('has %s', (_what, changes, status, words) => {
    expectCheck(evaluateBackups({ ...evidence, ...changes } as BackupsEvidence), status, words);
  });
});

describe('the root', () => {
  const read = {
    state: 'read',
    fingerprint: 'AB',
    notBeforeMs: NOW_MS - DAY_MS,
    notAfterMs: NOW_MS + 3650 * DAY_MS,
    isAuthority: true,
  } as const;
  const evidence: RootEvidence = {
    file: '/ca/root.pem',
    certificate: read,
    usedFingerprint: 'AB',
    realNowMs: NOW_MS,
    platform: 'linux',
  };
  const absent = { certificate: { state: 'absent' } } as const;
  it.each([
    ['as it should be', {}, 'ok', /valid from 2026-11-19.*SHA-256 AB/s],
    ['without an engine', { usedFingerprint: null }, 'ok', /valid/],
    ['different from the one in use', { usedFingerprint: 'CD' }, 'failed', /signs with another certificate/],
    ['expired', { realNowMs: NOW_MS + 3651 * DAY_MS }, 'failed', /expired/],
    ['not valid yet', { realNowMs: NOW_MS - 2 * DAY_MS }, 'failed', /not valid yet/],
    ['ending', { realNowMs: NOW_MS + 3640 * DAY_MS }, 'warning', /expires in 10 days/],
    ['not an authority', { certificate: { ...read, isAuthority: false } }, 'failed', /not a self-signed CA/],
    ['damaged', { certificate: { state: 'unreadable', reason: 'bad base64' } }, 'failed', /bad base64/],
    ['gone', absent, 'failed', /vivarium ca export --output \/ca\/root\.pem/],
    [
      'gone, on Windows',
      { ...absent, file: 'C:\\a b\\r', platform: 'win32' },
      'failed',
      /ca export --output "C:\\a b\\r"$/,
    ],
    ['not made yet', { ...absent, usedFingerprint: null }, 'skipped', /first start creates it/],
  ] as const)('is %s', (_what, changes, status, words) => {
    expectCheck(evaluateRoot({ ...evidence, ...changes }), status, words);
  });

  const key: RootKeyEvidence = { folder: '/ca', file: '/ca/k', storage: 'file', open: [], fits: true, needed: true };
  const open = [{ path: '/ca/k', mode: 0o644, wanted: 0o600 }];
  it.each([
    ['closed', {}, 'ok', /Only its owner can read .*, and it is the key/],
    ['sealed', { storage: 'keyring', fits: null }, 'ok', /keyring/],
    ['open to others', { open }, 'failed', /0644.*\nchmod 600 \/ca\/k$/s],
    ['another root’s', { fits: false }, 'failed', /not the key/],
    ['missing', { storage: 'absent' }, 'failed', /missing/],
    ['not made yet', { storage: 'absent', needed: false }, 'skipped', /no root yet/],
  ] as const)('has a key that is %s', (_what, changes, status, words) => {
    expectCheck(evaluateRootKey({ ...key, ...changes } as RootKeyEvidence), status, words);
  });
});

describe('the system', () => {
  const files = { open: 50, connectionsWanted: 2_048, platform: 'linux' } as const;
  it.each([
    [{ ...files, max: 20_000, connections: 2_048 }, 'ok', /20,000 files and sockets open; 50 are/],
    [{ ...files, max: 1_024, connections: 512 }, 'warning', /512 connections.*LimitNOFILE.*\nulimit -n 4096/s],
    [{ ...files, max: 256, connections: 128 }, 'failed', /128 connections/],
    [{ ...files, max: null, connections: 2_048 }, 'skipped', /does not report/],
  ] as const)('has a limit on open files: %j', (evidence, status, words) => {
    expectCheck(evaluateOpenFiles(evidence), status, words);
  });

  it('has versions', () => {
    const versions = { node: '24.1.0', openssl: '3.5' };
    const host = { platform: 'linux', release: '6', arch: 'x64' } as const;
    const check = evaluateVersions({ vivarium: '1', versions, sqlite: '3', ...host });
    expectCheck(check, 'ok', /^Vivarium 1, Node 24\.1\.0, OpenSSL 3\.5, SQLite 3\.\nlinux 6, x64\./);
  });
});

describe('the engine', () => {
  it('that runs is reported, with its warnings', () => {
    const running = { pid: 7, version: '1', dataDir: '/d', ephemeral: true };
    expectCheck(evaluateRunning(running), 'ok', /process 7 on \/d and/);
    expectCheck(evaluateWarnings([]), 'ok', /None/);
    expectCheck(evaluateWarnings(['The daily backup failed.']), 'warning', /daily backup failed/);
  });

  const evidence: AbsenceEvidence = {
    dataDir: '/d',
    runtimeFile: '/d/runtime.json',
    runtime: { state: 'absent' },
    locked: false,
    silence: null,
  };
  const file = { state: 'read', pid: 7, alive: true, url: 'http://127.0.0.1:4780' } as const;
  const unreadable = (reason: string) => ({ runtime: { state: 'unreadable', reason } }) as const;
  it.each([
    ['does not run', {}, 'skipped', /No Vivarium is running on \/d\.\n.*\nvivarium start/],
    ['is starting', { locked: true }, 'warning', /starting or stopping/],
    ['has crashed', { runtime: { ...file, alive: false } }, 'warning', /left behind: process 7 ended/],
    ['has crashed, and its number was reused', { runtime: file }, 'warning', /process 7 is now another program/],
    ['hangs', { runtime: file, locked: true, silence: 'none' }, 'failed', /no report: none\..*\nkill 7\n/s],
    ['is another user’s', { ...unreadable('EACCES'), locked: true }, 'failed', /as the user/],
    ['may be another user’s', unreadable('EACCES'), 'failed', /as the user/],
    ['left an incomplete file', unreadable('it is damaged'), 'failed', /replaces the file/],
  ] as const)('that %s', (_what, changes, status, words) => {
    expectCheck(evaluateAbsence({ ...evidence, ...changes }), status, words);
  });
});

it.each([
  ['firefox', { opened: true }, 'ok', /opened https:\/\/shop\.test\/ with its current setup/],
  ['firefox', { opened: false, said: '' }, 'warning', /DNS over HTTPS[^]*vivarium open shop\.test --browser firefox/],
  ['chromium', { opened: false, said: 'No sandbox.' }, 'warning', /It said: No sandbox\.[^]*PAC file/],
] as const)('%s that %j is %s', (kind, result, status, words) => {
  expectCheck(evaluateBrowser({ name: 'The browser', kind, hostname: 'shop.test', result }), status, words);
});

describe('the desktop app', () => {
  const FACTS: DesktopFacts = {
    electron: '45.4.1',
    chromium: '150.0.1',
    cryptography: 'BoringSSL',
    session: 'GNOME on wayland',
    gpu: 'enabled',
    sandboxed: true,
    keyring: { state: 'sealed' },
    tray: true,
  };

  it.each<[name: string, changes: Partial<DesktopFacts>, status: DoctorCheck['status'], words: RegExp]>([
    ['runtime', {}, 'ok', /Electron 45\.4\.1, Chromium 150\.0\.1, cryptography by BoringSSL[^]*GNOME on wayland/],
    ['sandbox', {}, 'ok', /in its sandbox/],
    ['sandbox', { sandboxed: false }, 'failed', /without --no-sandbox/],
    ['keyring', {}, 'ok', /sealed or opened/],
    ['keyring', { keyring: { state: 'untried' } }, 'skipped', /would try it/],
    ['keyring', { keyring: { state: 'refused', reason: 'There is none.' } }, 'warning', /There is none/],
    ['tray', {}, 'ok', /brings its window back/],
    ['tray', { tray: false }, 'skipped', /no icon/],
  ])('%s with %j is %s', (name, changes, status, words) => {
    const check = evaluateDesktop({ ...FACTS, ...changes }).find(({ id }) => id === `desktop.${name}`);
    expect(check).toBeDefined();
    if (check !== undefined) expectCheck(check, status, words);
  });
});
