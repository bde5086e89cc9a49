import { describe, expect, test } from 'vitest';
import { pasteable, type Command, type CommandResult } from '../../../main/ca/stores/run-command.ts';
import { addCommand, candidates, deleteCommand, withHandles } from '../../../main/ca/stores/truststore-nss.ts';
import { createRoot, extendRoot } from '../../../main/ca/root.ts';
import { linuxTrustCommands, linuxUntrustCommands, SYSTEM_LAYOUTS } from '../../../main/ca/stores/truststore-linux.ts';
import { createMacosStore, createWindowsStore, windowsCertutil } from '../../../main/ca/stores/machine-stores.ts';
import { createTrustStores, type TrustChange, type TrustLedger } from '../../../main/ca/stores/truststores.ts';
import { type Served, type TrustStore, sha1Of } from '../../../main/ca/stores/truststore.ts';
import { FAKE_NOW_MS } from '../../support/fake-clock.ts';

const old = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });
const current = extendRoot(old, 'acme.com', FAKE_NOW_MS);
const another = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'bob@desk' });
const file = '/home/anna/it is here/root.pem';
/** Without a handshake. */
const HAS_ROOT = 'The store has the root; no handshake was tried.';
const own = { current, file, older: [old.certificate] };
const FINGERPRINT = `AB:12:CD:34${':00'.repeat(28)}`;

const lines = (commands: readonly Command[], platform: NodeJS.Platform) =>
  commands.map((command) => pasteable([command], platform));

/** A system's programs, by the text of their command lines; any other program is an error. */
function createFakeSystem(
  platform: NodeJS.Platform,
  answers: Record<string, Partial<CommandResult>>,
  served: Served | null = null,
) {
  const asked: string[] = [];
  const run = (command: Command): Promise<CommandResult> => {
    const line = pasteable([command], platform);
    asked.push(line);
    const answer = answers[line];
    if (answer === undefined)
      return Promise.reject(new Error(`The test sets no answer for "${line}" on the fake system.`));
    return Promise.resolve({ exitCode: 0, stdout: '', stderr: '', ...answer });
  };
  const noted: TrustChange[] = [];
  const ledger: TrustLedger = {
    note: (change) => Promise.resolve(void noted.push(change)),
    forget: () => Promise.resolve(),
  };
  const storesOf = (store: TrustStore) =>
    createTrustStores({ stores: () => [store], own: () => own, run, platform, ledger, served: () => served });
  return { asked, answers, run, storesOf, noted };
}

test.each<[string, string[]]>([
  ['Fedora', ['/etc/pki/ca-trust/source/anchors/vivarium-ab12cd34.pem', 'update-ca-trust extract']],
  ['Debian', ['/usr/local/share/ca-certificates/vivarium-ab12cd34.crt', 'update-ca-certificates --fresh']],
  ['Arch', ['/etc/ca-certificates/trust-source/anchors/vivarium-ab12cd34.crt', 'update-ca-trust']],
  ['openSUSE', ['/etc/pki/trust/anchors/vivarium-ab12cd34.pem', 'update-ca-certificates']],
])('the Linux of %s', (name, [anchor = '', update = '']) => {
  const layout = SYSTEM_LAYOUTS[['Fedora', 'Debian', 'Arch', 'openSUSE'].indexOf(name)];
  if (layout === undefined) throw new Error(name);
  const roots = { current: { fingerprint: FINGERPRINT }, file };
  const trust = linuxTrustCommands(layout, roots, [{ handle: '/old.crt' }], false);
  expect(lines(trust, 'linux')).toEqual([
    'sudo rm -f /old.crt',
    `sudo install -m 0644 '/home/anna/it is here/root.pem' ${anchor}`,
    `sudo ${update}`,
  ]);
  expect(trust.every((command) => command.needsPassword)).toBe(true);
  const untrust = linuxUntrustCommands(layout, [{ handle: anchor }], true);
  expect(lines(untrust, 'linux')).toEqual([`rm -f ${anchor}`, update]);
  expect(untrust.some((command) => command.needsPassword)).toBe(false);
});

describe('NSS', () => {
  test('adds an authority for servers only, and deletes by nickname', () => {
    const commands = [
      addCommand('certutil', 'sql:/home/anna/.pki/nssdb', 'Vivarium root ab12cd34', file),
      deleteCommand('certutil', 'sql:/home/anna/.pki/nssdb', 'Vivarium root ab12cd34'),
    ];
    expect(lines(commands, 'linux')).toEqual([
      `certutil -A -d sql:/home/anna/.pki/nssdb -t C,, -n 'Vivarium root ab12cd34' -i '/home/anna/it is here/root.pem'`,
      `certutil -D -d sql:/home/anna/.pki/nssdb -n 'Vivarium root ab12cd34'`,
    ]);
  });

  test('checks nicknames with Vivarium in them, and trusted authorities', () => {
    const list = [
      '\nCertificate Nickname                                         Trust Attributes',
      '                                                             SSL,S/MIME,JAR/XPI\n',
      'Vivarium root ab12cd34                                       ,,   ',
      'Corp root, Inc.                                              CT,C,C',
      'imported by hand                                             C,,  ',
      'imported by hand                                             C,,  ',
      'Some intermediate                                            ,,   ',
      'anna’s key                                                   u,u,u',
    ];
    const imported = ['imported by hand', 'imported by hand'];
    expect(candidates(list.join('\n'))).toEqual(['Vivarium root ab12cd34', 'Corp root, Inc.', ...imported]);
  });

  test('finds no nickname for a root that shares its subject with another certificate', () => {
    const root = { identity: 'current' as const, fingerprint: FINGERPRINT, name: 'Vivarium root (anna@laptop 123456)' };
    const nicknames = ['Vivarium root ab12cd34'];
    const trusted = new Set([FINGERPRINT]);
    const handled = (handle: string | null) => [{ ...root, trusted: true, handle }];
    expect(withHandles({ members: [root], trusted, nicknames })).toEqual(handled('Vivarium root ab12cd34'));
    expect(withHandles({ members: [root, null], trusted, nicknames })).toEqual(handled(null));
  });
});

describe('macOS', () => {
  const keychain = '/Users/anna/Library/Keychains/login.keychain-db';
  const LIST = `/usr/bin/security find-certificate -a -p ${keychain}`;
  const VERIFY = `/usr/bin/security verify-cert -c '${file}' -p basic -l -L`;
  const TRUST = `/usr/bin/security add-trusted-cert -r trustRoot -p ssl -p basic -k ${keychain} '${file}'`;
  const remove = (root: { certificate: { raw: Buffer } }) =>
    `/usr/bin/security delete-certificate -Z ${sha1Of(root.certificate.raw)} -t ${keychain}`;
  const system = (answers: Record<string, Partial<CommandResult>>, served: Served | null = null) => {
    const fake = createFakeSystem('darwin', answers, served);
    return { ...fake, stores: fake.storesOf(createMacosStore({ home: '/Users/anna', run: fake.run })) };
  };

  test('shows the command, because macOS asks for a password', async () => {
    const { stores, asked, noted } = system({ [LIST]: { exitCode: 44 } });
    const needs = 'your password, which macOS asks for in a dialogue';
    expect(await stores.trust('system')).toMatchObject({ state: 'untrusted', needs, command: TRUST });
    expect(asked).toEqual([LIST]);
    // Before it is pasted.
    expect(noted).toMatchObject([{ store: 'system', apply: TRUST, undo: remove(current) }]);
  });

  const PROBLEM = 'curl: (60) SSL certificate problem';
  test.each<[exitCode: number, stderr: string, state: string, handshake: string, message: string]>([
    [0, '', 'trusted', 'verified', 'The root is trusted.'],
    [
      60,
      `${PROBLEM}\n`,
      'untrusted',
      'refused',
      `The store has the root, but a handshake with localhost failed: ${PROBLEM}`,
    ],
  ])('is trusted if a handshake succeeds, not by its contents: %d', async (exitCode, stderr, ...expected) => {
    const probe = '/usr/bin/curl --silent --show-error --head --output /dev/null https://localhost:8443/';
    const answers = { [LIST]: { stdout: current.certificatePem }, [VERIFY]: {}, [probe]: { exitCode, stderr } };
    const [store] = await system(answers, { hostname: 'localhost', port: 8443 }).stores.list();
    expect([store?.state, store?.handshake, store?.message]).toEqual(expected);
  });

  test('is trusted if macOS reports it as trusted, not by being in the keychain', async () => {
    const { stores, answers } = system({ [LIST]: { stdout: current.certificatePem }, [VERIFY]: { exitCode: 1 } });
    expect(await stores.trust('system')).toMatchObject({ state: 'untrusted', command: TRUST });
    answers[VERIFY] = { exitCode: 0 };
    expect(await stores.trust('system')).toMatchObject({ state: 'trusted', message: HAS_ROOT });
  });

  test('removes the old certificate when it adds the new one', async () => {
    const { stores } = system({ [LIST]: { stdout: old.certificatePem + another.certificatePem } });
    expect(await stores.trust('system')).toMatchObject({ state: 'other_root', command: `${remove(old)} && ${TRUST}` });
  });

  test('untrusts our certificates by SHA-1, and no others', async () => {
    const all = current.certificatePem + old.certificatePem + another.certificatePem;
    const { stores } = system({ [LIST]: { stdout: all }, [VERIFY]: {} });
    expect((await stores.untrust('system')).command).toBe(`${remove(current)} && ${remove(old)}`);
    expect((await stores.untrust('system', another.fingerprint)).command).toBe(remove(another));
  });

  test('without a keychain is unavailable', async () => {
    const { stores } = system({ [LIST]: { exitCode: 50, stderr: 'security: SecKeychainOpen: no such keychain' } });
    expect(await stores.trust('system')).toMatchObject({ state: 'unavailable' });
  });
});

describe('Windows', () => {
  const tool = 'C:\\Windows\\System32\\certutil.exe';
  const LIST = `${tool} -user -store Root`;
  const TRUST = `${tool} -user -addstore Root "${file}"`;
  const remove = (root: { certificate: { raw: Buffer } }) =>
    `${tool} -user -delstore Root ${sha1Of(root.certificate.raw)}`;
  /** As a German Windows prints it. */
  const store = (roots: readonly { certificate: { raw: Buffer; subject: string } }[], pairs = false) =>
    [
      'Root "Vertrauenswürdige Stammzertifizierungsstellen"',
      ...roots.flatMap(({ certificate }, index) => {
        const sha1 = sha1Of(certificate.raw).toLowerCase();
        return [
          `================ Zertifikat ${index} ================`,
          'Seriennummer: 4f5036e32ab37d06c10ebde20872f395',
          `Aussteller: ${certificate.subject.split('\n').reverse().join(', ')}`,
          `Antragsteller: ${certificate.subject.split('\n').reverse().join(', ')}`,
          'Signatur stimmt mit dem öffentlichen Schlüssel überein.',
          `Zertifikathash(sha1): ${pairs ? (sha1.match(/../g) ?? []).join(' ') : sha1}`,
          'Keine Schlüsselanbieterinformationen',
          '',
        ];
      }),
      'CertUtil: -store-Befehl wurde erfolgreich ausgeführt.',
    ].join('\r\n');
  const corp = { certificate: { raw: Buffer.from('corp'), subject: 'O=Corp\nCN=Corp root' } };
  const system = (answers: Record<string, Partial<CommandResult>>) => {
    const fake = createFakeSystem('win32', answers);
    const environment = { SystemRoot: 'C:\\Windows' };
    /** The answer of `line`, after which the store has these roots. */
    const leaves = (line: string, ...roots: Parameters<typeof store>[0]) =>
      Object.defineProperty(answers, line, {
        get: () => {
          answers[LIST] = { stdout: store(roots) };
          return {};
        },
      });
    return { ...fake, leaves, stores: fake.storesOf(createWindowsStore({ environment, run: fake.run })) };
  };

  test('adds the root after a Windows confirmation, and reads the store again', async () => {
    const { stores, leaves, asked } = system({ [LIST]: { stdout: store([corp]) }, [TRUST]: {} });
    await expect(stores.trust('system')).rejects.toThrow('was read again, and it does not contain the root');
    asked.length = 0;
    leaves(TRUST, corp, current);
    expect(await stores.trust('system')).toMatchObject({ state: 'trusted' });
    expect(asked).toEqual([LIST, TRUST, LIST]);
  });

  test('reports that the user declined', async () => {
    const { stores } = system({
      [LIST]: { stdout: store([]) },
      [TRUST]: { exitCode: 0x800704c7, stdout: 'CertUtil: The operation was canceled by the user.' },
    });
    await expect(stores.trust('system')).rejects.toThrow(/adds the root .*failed .*canceled by the user/);
  });

  test.each<[string, boolean]>([
    ['in one piece', false],
    ['in pairs', true],
  ])('reads SHA-1 %s, in any language', async (_name, pairs) => {
    const { stores } = system({ [LIST]: { stdout: store([corp, old, another], pairs) } });
    const [listed] = await stores.list();
    expect(listed?.state).toBe('other_root');
    expect(listed?.message).toContain('Only an older certificate of the root is trusted');
  });

  test('untrusts ours by SHA-1, and another’s only on request', async () => {
    const { stores, leaves, asked } = system({ [LIST]: { stdout: store([corp, current, old, another]) } });
    for (const root of [current, old]) leaves(remove(root), corp, another);
    expect(await stores.untrust('system')).toMatchObject({ state: 'other_root' });
    expect(asked).toEqual([LIST, remove(current), remove(old), LIST]);
  });

  test('runs its own certutil by its path', () => {
    expect(windowsCertutil({})).toBe(tool);
    expect(windowsCertutil({ SystemRoot: 'D:\\WINNT' })).toBe('D:\\WINNT\\System32\\certutil.exe');
  });
});

test.each<[NodeJS.Platform, string[], string]>([
  ['linux', ['certutil', "it's"], `certutil 'it'"'"'s'`],
  ['darwin', ['security', '$(rm)', ''], `security '$(rm)' ''`],
  ['win32', ['C:\\My Tools\\certutil.exe', "it's", 'a,b'], `& "C:\\My Tools\\certutil.exe" "it's" "a,b"`],
])('a command to paste is quoted for %s', (platform, [command = '', ...args], text) => {
  expect(pasteable([{ command, args }], platform)).toBe(text);
});
