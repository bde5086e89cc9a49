import { describe, expect, it } from 'vitest';
import { typed } from '../../../../main/base/system/own-command.ts';
import { exitCodeFor } from '../../../../main/cli/words/help.ts';
import { createStyle } from '../../../../main/cli/text/text.ts';
import { renderFor } from '../../../../main/cli/words/ask.ts';
import { makeDomain } from '../../../support/page/page-domains.ts';

const PLAIN = { style: createStyle(false), width: null };

it('the objects owned by files are printed as one row each', () => {
  const entries = [
    { kind: 'zone', what: 'acme.test' },
    { kind: 'project', what: 'acme' },
  ];
  const owners = [{ file: '/a/vivarium.yaml', since: '2026-11-23T02:00:00.000Z', entries }];
  expect(renderFor('world.owners', owners, PLAIN)).toBe(
    'kind     what       file\nzone     acme.test  /a/vivarium.yaml\nproject  acme       /a/vivarium.yaml\n',
  );
});

it.each([
  ['projects.remove', { id: 'prj_1', name: 'Aquarium', slug: 'aquarium' }, 'Removed Aquarium (prj_1).'],
  ['keys.revoke', { id: 'key_1', name: 'CI', prefix: 'viv_3fQ9' }, 'Revoked CI (viv_3fQ9…).'],
  ['keys.revoke', { id: 'key_1', name: '', prefix: 'viv_3fQ9' }, 'Revoked key_1 (viv_3fQ9…).'],
  ['limits.unban', { keyId: 'key_1', lifted: true }, 'Lifted the ban of key_1.'],
  ['limits.unban', { keyId: 'key_1', lifted: false }, 'key_1 was not banned.'],
  ['pets.remove', { id: '7', name: 'Ada\u001b[2J', categoryId: '3' }, 'Removed pet 7 (Ada\\u{1b}[2J).'],
  ['pets.updateMany', { before: [{ id: '7' }], missing: [] }, 'Changed 1 pet.'],
  ['pets.removeMany', { removed: [], missing: ['7', '9'] }, 'Removed 0 pets; there is no pet 7, 9.'],
  ['pets.clear', { removed: 1_000, left: 0 }, 'Removed 1,000 pets.'],
  ['pets.clear', { removed: 1, left: 2 }, 'Removed 1 pet; 2 are left.'],
  ['orders.remove', { id: '3', petId: '7' }, 'Removed order 3.'],
  ['domains.remove', { hostname: 'shop.acme.test', state: 'verified' }, 'Removed shop.acme.test.'],
  ['zones.remove', { name: 'acme.test', records: 4 }, 'Removed acme.test.'],
  [
    'records.remove',
    { zone: 'acme.test', name: 'www', type: 'A', value: '127.0.0.1', visibleAt: '2026-11-20T09:00:00.000Z' },
    'Removed www A 127.0.0.1 from acme.test; it is answered until 2026-11-20T09:00:00.000Z.',
  ],
  ['traffic.clear', { cleared: 1 }, 'Removed 1 entry.'],
  ['traffic.clear', { cleared: 0 }, 'Removed 0 entries.'],
])('the result of a removal of %s, %j, is one sentence', (procedure, result, sentence) => {
  expect(renderFor(procedure, result, PLAIN)).toBe(`${sentence}\n`);
});

it('the rehearsal of a zone names what failed and what could not be looked up, with its fix', () => {
  const checks = (['ok', 'warning', 'failed', 'unknown'] as const).map((outcome) => ({
    ...{ code: 'no_record', outcome, message: `It is ${outcome}.`, fix: `Fix ${outcome}.` },
  }));
  const certificate = { state: 'none', issuers: ['ca.test'], checks: [] };
  const providers = [{ persona: 'fly', name: 'Fly', state: 'pending', checks, instructions: [], certificate }];
  const rehearsal = { hostname: 'a.test', zone: 'a.test', records: 1, rejected: [], rejectedTotal: 2, providers };
  const text = renderFor('zones.rehearse', rehearsal, PLAIN);
  expect(text).toContain('\nFly\n  It is failed.\n    Fix failed.\n  It is unknown.\n    Fix unknown.\n');
  expect(text).toContain('2 more lines were not read.');
});

const NARROW = { style: createStyle(false), width: 80 };

describe('a table in a narrow terminal', () => {
  it('of projects has the names and the addresses', () => {
    const limits = { perMinute: 60, perDay: 1_000 };
    const baseUrl = { production: 'http://demo.vivarium.localhost:8080/v1', staging: 'http://x.vivarium.localhost/v1' };
    const project = { id: 'prj_2Kd8VwXy6ZaBcE3f', name: 'Demo', slug: 'demo', plan: 'free', limits, baseUrl };
    expect(renderFor('projects.list', [project], NARROW)).toMatch(
      /^name +slug +plan +baseUrl\.production.*\nDemo +demo +free +http:\/\/demo\.vivarium\.localhost:8080\/v1/,
    );
  });

  it('of domains and keys begins with their names, and omits columns without values', () => {
    const domain = { projectId: 'prj_1', kind: 'apex', hostname: 'a.test', state: 'verified' };
    const listed = renderFor('domains.list', [{ ...domain, certificate: { state: 'issued' } }], NARROW);
    expect(listed).toMatch(/^hostname +state +certificate\.state +kind +projectId\n/);
    const key = { id: 'key_1', name: 'CI', prefix: 'viv_3fQ9', createdAt: '2026-11-20T09:00:00.000Z' };
    expect(renderFor('keys.list', [key], NARROW)).toMatch(/^name +prefix +createdAt +id\n/);
  });
});

describe('for people', () => {
  it('a renewed certificate is shown without its PEM, with the command that prints it', () => {
    const result = { hostname: 'a.test', serial: '0A', pem: '-----BEGIN CERTIFICATE-----\nMIIB\n' };
    const text = renderFor('certificates.renew', result, PLAIN);
    expect(text).toContain('certificate export a.test');
    expect(text).toMatch(/^serial +0A$/m);
    expect(text).not.toContain('BEGIN');
  });

  it('the key of a zone is the file that nsupdate reads, line by line', () => {
    const file = '# Updates\nkey "acme.test" {\n  secret "c2VjcmV0";\n};\n';
    expect(renderFor('zones.updateKey', { name: 'acme.test', secret: 'c2VjcmV0', file }, PLAIN)).toBe(file);
  });

  it('code keeps its tabs, and a name does not', () => {
    const result = { name: 'a\tb', text: 'func main() {\n\tgo()\u001b\n}\n' };
    const shown = 'name  a\\u{9}b\ntext  func main() {\n      \tgo()\\u{1b}\n      }\n';
    expect(renderFor('projects.get', result, PLAIN)).toBe(shown);
  });

  it('certificates are rows of a table, without the texts of their chain', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    const listed = [{ serial: '01', pem, chain: [pem], notAfter: '2026', hostname: 'a.test', state: 'issued' }];
    expect(renderFor('certificates.list', listed, PLAIN)).toBe(
      'hostname  state   notAfter  serial\na.test    issued  2026      01\nNot shown: pem, chain. --json has everything.\n',
    );
  });

  it('snippets begin at the left margin, to be copied as they are', () => {
    const text = 'import ssl\n\tprint()\n';
    const snippet = { id: 'urllib', title: 'Python urllib', language: 'python', text, note: 'Why.' };
    const pac = { title: 'PAC file', note: 'A note.', commands: 'do it', undo: 'undo it' };
    const result = { hostname: 'a.test', snippets: [snippet], pac };
    expect(renderFor('reach.snippets', result, PLAIN)).toBe(
      'hostname  a.test\n\nPython urllib\n\nimport ssl\n\tprint()\n\nWhy.\n' +
        '\nPAC file\n\nA note.\n\ndo it\n\nTo undo it:\n\nundo it\n' +
        `\nNames and ports for the whole system: ${typed('vivarium machine plan a.test')}\n`,
    );
    const asked = { language: 'python' };
    const alone = 'Python urllib\n\nimport ssl\n\tprint()\n\nWhy.\n';
    expect(renderFor('reach.snippets', result, { ...PLAIN, asked })).toBe(alone);
  });
});

describe('other devices', () => {
  const choices = [{ interface: 'Wi-Fi 2', address: '192.168.1.5', automatic: true }];
  const shared = { keep: false, hostnames: ['a.test'], hostnamesTotal: 2, choices };
  it.each([
    [
      { state: 'off', ...shared },
      /^Vivarium serves this machine only\..*lan start --interface 'Wi-Fi 2' +on 192\.168\.1\.5\n$/s,
    ],
    [{ state: 'off', ...shared, choices: [] }, /not on a local network\.\n$/],
    [
      { state: 'waiting', ...shared, wanted: 'en0', problem: 'en0 is gone.' },
      /^Vivarium can’t serve other devices at present: en0 is gone\.\nWaiting for en0\. The next start does not serve them\.\n.*lan stop\n$/s,
    ],
    [
      { state: 'on', ...shared, keep: true, interface: 'en0', url: 'http://192.168.1.5:8080/' },
      /^Devices on en0 reach the hostnames\. The next start serves them again\.\n.*http:\/\/192\.168\.1\.5:8080\/.*a\.test, …\n.*lan stop\n$/s,
    ],
  ])('%j', (status, text) => {
    expect(renderFor('lan.status', status, PLAIN)).toMatch(text);
  });
});

describe('an empty list', () => {
  it.each([
    ['projects.list', [], /^There are no projects\. Create one: .*project create Shop\n$/],
    ['limits.reset', [], /^No requests of the project have been counted\.\n$/],
    ['limits.usage', [], /^No requests of the project are counted at present\. .* project list\n$/],
    ['orders.list', { items: [], total: 0 }, /^There are no such orders\.\n\ntotal {2}0\n$/],
  ])('%s tells what is missing, and what to do', (procedure, result, text) => {
    expect(renderFor(procedure, result, PLAIN)).toMatch(text);
  });

  it.each([
    ['keys.list', /key create shop --name Mine\n$/],
    ['deploys.list', /deploy create shop\n$/],
    ['pets.list', /pet seed shop 10\n$/],
    ['domains.list', /domain attach shop shop\.acme\.test --local\n$/],
  ])('%s names the requested project', (procedure, text) => {
    expect(renderFor(procedure, [], { ...PLAIN, asked: { projectId: 'shop' } })).toMatch(text);
  });
});

it('the use of limits has the same columns for every caller', () => {
  const unused = { limit: 60, used: 0 };
  const at = '2026-11-20T09:00:00.000Z';
  const address = { caller: 'address:127.0.0.1', minute: unused, day: { ...unused, resetsAt: at }, strikes: 0 };
  const key = {
    ...{ caller: 'key:key_1', keyId: 'key_1', key: { name: 'CI', prefix: 'viv_3fQ9' } },
    ...{ minute: { limit: 60, used: 7, resetsAt: at }, day: unused, strikes: 2 },
  };
  const callers = [address, key];
  expect(renderFor('limits.usage', callers, PLAIN).split('\n')).toEqual([
    'caller        minute   day      minute ends               day ends                  strikes  banned until  id',
    '127.0.0.1     0 of 60  0 of 60  –                         2026-11-20T09:00:00.000Z  0        –             address:127.0.0.1',
    'CI viv_3fQ9…  7 of 60  0 of 60  2026-11-20T09:00:00.000Z  –                         2        –             key:key_1',
    '',
  ]);
});

it.each([
  ['PT0S', 'none'],
  ['PT59.999S', '1 min ahead'],
  ['-PT48H', '2 days behind'],
])('a clock with an offset of %s is %s', (offset, text) => {
  const reading = { now: 'n', realNow: 'r', offset, frozen: false };
  expect(renderFor('clock.freeze', reading, PLAIN)).toContain(`\noffset   ${text}\n`);
});

it.each<[string, unknown, number]>([
  ['deploys.create', { status: 'succeeded' }, 0],
  ['deploys.create', { status: 'failed', reason: 'Nothing listens.' }, 1],
  ['deploys.list', [{ status: 'failed' }], 0],
  ['domains.verify', { state: 'verified', certificate: { state: 'issued' }, checks: [] }, 0],
  ['domains.verify', { state: 'verified', certificate: { state: 'pending' }, checks: [] }, 0],
  ['domains.verify', { state: 'verified', certificate: { state: 'failed' }, checks: [] }, 1],
  ['domains.verify', { state: 'pending', certificate: { state: 'none' }, checks: [] }, 1],
  ['domains.verify', { state: 'misconfigured', certificate: { state: 'issued' }, checks: [] }, 1],
  ['domains.verify', { state: 'verified', certificate: { state: 'pending' }, checks: [{ outcome: 'failed' }] }, 1],
  ['domains.verify', { state: 'verified', certificate: { state: 'issued' }, checks: [{ outcome: 'warning' }] }, 0],
  ['domains.get', { state: 'misconfigured', certificate: { state: 'failed' } }, 0],
  ['caa.explain', { verdict: 'allowed' }, 0],
  ['caa.explain', { verdict: 'forbidden' }, 1],
  ['caa.explain', { verdict: 'lookup_failed' }, 1],
  ['ca.retract', { left: [] }, 0],
  ['ca.retract', { left: [{ store: 'system' }] }, 1],
  ['ca.trust', { state: 'trusted' }, 0],
  ['ca.trust', { state: 'untrusted', command: 'sudo …' }, 1],
  ['ca.trust', { state: 'unavailable' }, 1],
  ['ca.untrust', { state: 'untrusted' }, 0],
  ['ca.untrust', { state: 'trusted' }, 0],
  ['ca.untrust', { state: 'trusted', command: 'sudo …' }, 1],
  ['ca.untrust', { state: 'unavailable' }, 1],
  ['doctor.run', { counts: { failed: 0, warning: 2 } }, 0],
  ['doctor.run', { counts: { failed: 1, warning: 0 } }, 1],
  ['projects.list', [], 0],
])('the exit code of %s with %j is %i', (procedure, result, code) => {
  expect(exitCodeFor(procedure, JSON.stringify(result))).toBe(code);
});

it('a passed check is named by its subject, a failed one by its problem', () => {
  const check = { message: 'As it is.' } as const;
  const checks = [
    { ...check, code: 'wrong_target', outcome: 'ok' },
    { ...check, code: 'caa_forbids', outcome: 'failed' },
  ] as const;
  const text = renderFor('domains.verify', makeDomain('www.acme.test', { checks: [...checks] }), PLAIN);
  expect(text).toMatch(/code: target, outcome: ok$/m);
  expect(text).toMatch(/code: caa_forbids, outcome: failed$/m);
  expect(text).not.toContain('wrong_target');
});
