import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { MachineStep } from '../../../main/contract/machine.ts';
import type { Wish } from '../../../main/machine/change.ts';
import { openLedger } from '../../../main/machine/ledger.ts';
import type { MachineOptions } from '../../../main/machine/machine.ts';
import { renderPosixApply } from '../../../main/machine/scripts.ts';
import { planLinux } from '../../../main/machine/plans.ts';
import { lookAt } from '../../../main/machine/look.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  applyAll,
  BROWSERS,
  crashAt,
  remainingChanges,
  machineIn,
  makeRoot,
  SET_UPS,
  treeOf,
  WISH,
} from './set-ups.ts';

const DROP_IN = 'etc/systemd/resolved.conf.d/vivarium-acme.test.conf';
const isLinux = process.platform === 'linux';

function setUp(changes: Partial<MachineOptions> = {}) {
  const root = makeRoot(SET_UPS['systemd-resolved'] ?? {});
  const folder = join(temporaryFolder(), 'state', 'machine');
  const before = treeOf(root);
  const codeFor = async (id: string) =>
    (await made.machine.plan(WISH)).changes.find((change) => change.id === id)?.plan ?? '';
  const made = {
    ...machineIn(root, folder, crashAt(0), changes),
    root,
    folder,
    before,
    file: (name: string) => join(root, name),
  };
  return { ...made, codeFor };
}

describe.runIf(isLinux)('a plan', () => {
  it('contains every line, and changes nothing', async () => {
    const { machine, root, before, folder } = setUp({ resolve: () => Promise.resolve(['192.0.2.80']) });
    const plan = await machine.plan(WISH);
    expect(plan.resolvesTo).toEqual(['192.0.2.80']);
    const shown = ({ path, existed, removes, adds }: MachineStep) => [path, existed, removes.join(), adds.length];
    expect(plan.changes.map(({ id, steps, runs }) => [id, ...steps.map(shown), ...runs])).toEqual([
      ['resolver:acme.test', [`/${DROP_IN}`, false, '', 4], 'systemctl restart systemd-resolved'],
      ['hosts:shop.acme.test', ['/etc/hosts', true, '', 4]],
      [
        'ports',
        ['/etc/sysctl.d/90-vivarium.conf', false, '', 2],
        ['/proc/sys/net/ipv4/ip_unprivileged_port_start', true, '1024', 1],
      ],
    ]);
    expect(plan.changes.map(({ state, before: was, command }) => [state, was, command])).toEqual([
      ['planned', undefined, expect.stringMatching(/^vivarium machine apply shop\.acme\.test [0-9a-f]{8}$/)],
      ['planned', expect.stringContaining('# ça va'), expect.any(String)],
      ['planned', '1024', expect.any(String)],
    ]);
    expect(treeOf(root)).toEqual(before);
    expect(() => statSync(folder)).toThrow('ENOENT');
  });

  it('can only be applied on the machine for which it was made', async () => {
    const { machine, codeFor, file, ledger } = setUp();
    const code = await codeFor('hosts:shop.acme.test');
    writeFileSync(file('etc/hosts'), '192.0.2.1 printer\n');
    await expect(machine.apply(WISH, code)).rejects.toThrow(/the machine has changed[^]*Plan again/);
    expect(readFileSync(file('etc/hosts'), 'utf8')).toBe('192.0.2.1 printer\n');
    expect(ledger.read()).toEqual([]);
  });

  it('is not applied to a file that changes at the last moment', async () => {
    const { machine, codeFor, file, root } = setUp({
      run: ({ args }) => {
        writeFileSync(join(root, 'etc/hosts'), '192.0.2.1 printer\n');
        const { status, stderr } = spawnSync('/bin/sh', args, { encoding: 'utf8' });
        return Promise.resolve({ exitCode: status, stderr });
      },
    });
    const { changes } = await machine.apply(WISH, await codeFor('hosts:shop.acme.test'));
    expect(changes).toMatchObject([{ state: 'pending', message: '/etc/hosts was changed since, and is left alone.' }]);
    expect(readFileSync(file('etc/hosts'), 'utf8')).toBe('192.0.2.1 printer\n');
  });
});

test.runIf(isLinux)('a change that was made for another port is marked as such', async () => {
  const { machine, codeFor } = setUp();
  await machine.apply(WISH, await codeFor('resolver:acme.test'));
  const noteFor = async (wish: Wish) =>
    (await machine.plan(wish)).changes.find(({ kind }) => kind === 'resolver')?.note;
  expect(await noteFor(WISH)).toMatch(/^For every name under acme\.test/);
  expect(await noteFor({ ...WISH, ports: { ...WISH.ports, dns: 5381 } })).toBe(
    'It was made for other ports, by the Vivarium of /home/anna/.local/share/vivarium. Undo it, and apply it again.',
  );
});

describe.runIf(isLinux)('the ledger', () => {
  it('records a change before it is made, readable for its owner only', async () => {
    const seen: unknown[] = [];
    const { machine, codeFor, folder, ledger } = setUp({
      run: () => {
        seen.push(ledger.read().map(({ id, steps }) => [id, steps]));
        return Promise.resolve({ exitCode: 0, stderr: '' });
      },
    });
    await machine.apply(WISH, await codeFor('resolver:acme.test'));
    const step = { kind: 'file', path: `/${DROP_IN}`, was: null, folders: ['/etc/systemd/resolved.conf.d'] };
    expect(seen).toEqual([[['resolver:acme.test', [expect.objectContaining(step)]]]]);
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
    expect([...new Set(modes), statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it.each<[what: string, edit: (text: string) => string, error: RegExp]>([
    ['of a newer Vivarium', (text) => text.replace('"version": 1', '"version": 2'), /newer Vivarium[^]*undo\.sh/],
    ['cut off', (text) => text.slice(0, 200), /damaged[^]*undo\.sh/],
    [
      'edited by hand',
      (text) => text.replace('"path": "/etc/hosts"', '"path": "/etc/passwd"'),
      /damaged, or was edited/,
    ],
    ['of something else', () => '[]', /damaged/],
  ])('is refused and kept if it is %s; its script works', async (_what, edit, error) => {
    const { machine, codeFor, ledger, root, before } = setUp();
    await machine.apply(WISH, await codeFor('hosts:shop.acme.test'));
    const during = treeOf(root);
    writeFileSync(ledger.file, edit(readFileSync(ledger.file, 'utf8')));
    const kept = readFileSync(ledger.file, 'utf8');
    await expect(machine.plan(WISH)).rejects.toThrow(error);
    await expect(machine.status()).rejects.toThrow(error);
    await expect(machine.undo({ take: true })).rejects.toThrow(error);
    expect([readFileSync(ledger.file, 'utf8'), treeOf(root)]).toEqual([kept, during]);
    execFileSync('/bin/sh', [ledger.undoScript, '--files']);
    expect(treeOf(root)).toEqual(before);
  });

  it('is changed by one Vivarium at a time', async () => {
    const { machine, codeFor, folder, ledger } = setUp();
    const code = await codeFor('ports');
    const other = openLedger({ folder, platform: 'linux', root: '' });
    await other.alone(async () => {
      await expect(machine.apply(WISH, code)).rejects.toThrow(/is changing this machine at the moment/);
    });
    expect(ledger.read()).toEqual([]);
    expect((await machine.apply(WISH, code)).changes).toMatchObject([{ state: 'applied' }]);
    expect(other.read().map(({ id }) => id)).toEqual(['ports']);
  });
});

describe.runIf(isLinux)('two Vivariums with one ledger', () => {
  const FIREFOX = 'etc/firefox/policies/policies.json';
  const OTHER_DATA = '/home/anna/other';
  const OTHER_WISH: Wish = { ...WISH, ports: { http: 8081, https: 8444, dns: 5381 } };

  function setUpTwo() {
    const root = makeRoot(SET_UPS.neither ?? {});
    const folder = join(temporaryFolder(), 'machine');
    const one = machineIn(root, folder).machine;
    const other = machineIn(root, folder, crashAt(0), { dataDir: OTHER_DATA }).machine;
    const plannedBy = async (machine: typeof one, wish: Wish, id: string) =>
      (await machine.plan(wish)).changes.find((change) => change.id === id);
    return { root, before: treeOf(root), one, other, plannedBy, firefox: join(root, FIREFOX) };
  }

  it('create a policy file once, which names its owner, and undo only their own changes', async () => {
    const { root, before, one, other, plannedBy, firefox } = setUpTwo();
    const code = (await plannedBy(one, WISH, 'browser:firefox'))?.plan ?? '';
    const otherCode = (await plannedBy(other, OTHER_WISH, 'browser:firefox'))?.plan ?? '';
    await one.apply(WISH, code);
    const written = readFileSync(firefox, 'utf8');
    await expect(other.apply(OTHER_WISH, otherCode)).rejects.toThrow(/Plan again/);
    expect(await plannedBy(other, OTHER_WISH, 'browser:firefox')).toMatchObject({
      state: 'applied',
      note: 'It was made for other ports, by the Vivarium of /home/anna/.local/share/vivarium. Undo it, and apply it again.',
    });
    const chromium = await plannedBy(other, OTHER_WISH, 'browser:chromium');
    await other.apply(OTHER_WISH, chromium?.plan ?? '');
    expect(remainingChanges(await other.undo({ take: false }))).toEqual([]);
    expect([readFileSync(firefox, 'utf8'), (await one.status()).changes.map(({ id }) => id)]).toEqual([
      written,
      ['browser:firefox'],
    ]);
    // By its id, either of them undoes it; here for the ports of the other.
    expect(remainingChanges(await other.undo({ ids: ['browser:firefox'], take: false }))).toEqual([]);
    expect(treeOf(root)).toEqual(before);
  });

  it('leave a policy file that was edited meanwhile, until its removal is requested', async () => {
    const { root, before, one, other, plannedBy, firefox } = setUpTwo();
    await one.apply(WISH, (await plannedBy(one, WISH, 'browser:firefox'))?.plan ?? '');
    const edited = readFileSync(firefox, 'utf8').replace('"Fallback": true', '"Fallback": false');
    writeFileSync(firefox, edited);
    const beside = join(root, 'etc/firefox/policies/notes.txt');
    writeFileSync(beside, 'mine');
    const message = `/${FIREFOX} was changed since, and is left alone.`;
    for (const machine of [one, other]) {
      const { changes } = await machine.undo({ ids: ['browser:firefox'], take: false });
      expect(changes).toMatchObject([{ state: 'changed', message }]);
    }
    expect(readFileSync(firefox, 'utf8')).toBe(edited);
    expect(remainingChanges(await other.undo({ ids: ['browser:firefox'], take: true }))).toEqual([]);
    // A folder that contains a foreign file stays.
    expect(readdirSync(join(root, 'etc/firefox/policies'))).toEqual(['notes.txt']);
    rmSync(join(root, 'etc/firefox'), { recursive: true });
    expect(treeOf(root)).toEqual(before);
  });
});

describe.runIf(isLinux)('undo', () => {
  it('leaves what others have changed since, and removes it on request', async () => {
    const { machine, root, file, before } = setUp();
    await applyAll(machine);
    writeFileSync(file(DROP_IN), '[Resolve]\nDNS=9.9.9.9\n');
    const { changes } = await machine.undo({ take: false });
    expect(changes).toMatchObject([
      {
        id: 'resolver:acme.test',
        state: 'changed',
        message: `/${DROP_IN} was changed since, and is left alone.`,
        command: 'vivarium machine undo --ids resolver:acme.test --take',
      },
      { id: 'hosts:shop.acme.test', state: 'undone' },
      { id: 'ports', state: 'undone' },
    ]);
    expect(readFileSync(file(DROP_IN), 'utf8')).toBe('[Resolve]\nDNS=9.9.9.9\n');
    expect(remainingChanges(await machine.undo({ ids: ['resolver:acme.test'], take: true }))).toEqual([]);
    expect(treeOf(root)).toEqual(before);
    await expect(machine.undo({ ids: ['resolver:acme.test'], take: true })).rejects.toThrow(/has no change resolver/);
  });

  it.each<[what: string, edit: (text: string) => string, after: (was: string) => string, take: boolean, left: number]>([
    [
      'lines of others',
      (text) => `# mine\n${text}192.0.2.1 printer\n`,
      (was) => `# mine\n${was}\n192.0.2.1 printer\n`,
      false,
      0,
    ],
    ['no block', () => 'all new\n', () => 'all new\n', false, 0],
    ['an edited block', (text) => text.replace('::1 shop', '::2 shop'), (was) => `${was}\n`, true, 0],
    [
      'half a block',
      (text) => text.replace(/# Vivarium end.*\n/, ''),
      (was) => `${was}\n# Vivarium begin: shop.acme.test\n127.0.0.1 shop.acme.test\n::1 shop.acme.test\n`,
      true,
      1,
    ],
  ])('removes its block from a hosts file with %s', async (_what, edit, after, take, left) => {
    const { machine, codeFor, file } = setUp();
    const was = readFileSync(file('etc/hosts'), 'latin1');
    await machine.apply(WISH, await codeFor('hosts:shop.acme.test'));
    writeFileSync(file('etc/hosts'), edit(readFileSync(file('etc/hosts'), 'latin1')), 'latin1');
    if (take) expect(remainingChanges(await machine.undo({ take: false }))).toMatchObject([{ state: 'changed' }]);
    expect(remainingChanges(await machine.undo({ take }))).toHaveLength(left);
    expect(readFileSync(file('etc/hosts'), 'latin1')).toBe(after(was));
  });

  it('of several hostnames leaves the others', async () => {
    const { machine, file, root, before } = setUp();
    const apply = async (wish: Wish) => {
      const { plan = '' } = (await machine.plan(wish)).changes.find(({ kind }) => kind === 'hosts') ?? {};
      await machine.apply(wish, plan);
    };
    for (const hostname of ['a.test', 'shop.a.test', 'c.test']) await apply({ ...WISH, hostname });
    await machine.undo({ ids: ['hosts:a.test'], take: false });
    const hosts = readFileSync(file('etc/hosts'), 'utf8');
    expect(hosts.match(/^127\.0\.0\.1 \S+$/gm)).toEqual(['127.0.0.1 shop.a.test', '127.0.0.1 c.test']);
    await machine.undo({ take: false });
    // The line end that the first block added after the last line is not known to be Vivarium's once that block is
    // gone.
    expect(treeOf(root)).toEqual({ ...before, 'etc/hosts': `${before['etc/hosts'] ?? ''}\n` });
  });
});

describe.runIf(isLinux)('without the right to write', () => {
  it('a change waits for its pasted command, and so does its undo', async () => {
    const { machine, codeFor, root, before, folder } = setUp({ mayWrite: () => false });
    const paste = (command = '') =>
      execFileSync('/bin/sh', ['-c', command.replace('sudo ', '')], { env: { PATH: crashAt(0).path } });
    const [entry] = (await machine.apply(WISH, await codeFor('resolver:acme.test'))).changes;
    expect(entry).toMatchObject({ state: 'pending', command: expect.stringContaining(`sudo sh ${folder}/apply-`) });
    expect((await machine.status()).changes).toMatchObject([{ state: 'pending', command: entry?.command }]);
    paste(entry?.command);
    expect((await machine.status()).changes).toMatchObject([{ state: 'applied' }]);
    const [left] = remainingChanges(await machine.undo({ take: false }));
    expect(left?.command).toBe(`sudo sh ${folder}/undo.sh --files resolver:acme.test`);
    paste(left?.command);
    expect(treeOf(root)).toEqual(before);
    expect((await machine.status()).changes).toEqual([]);
  });

  it('a waiting change can be forgotten without a password', async () => {
    const { machine, codeFor, folder } = setUp({ mayWrite: () => false });
    await machine.apply(WISH, await codeFor('ports'));
    expect(await machine.undo({ take: false })).toMatchObject({ changes: [{ id: 'ports', state: 'undone' }] });
    expect(readdirSync(folder).sort()).toEqual(['ledger.json', 'ledger.lock', 'undo.sh']);
  });

  it('the system asks for a password, and a refusal leaves the command', async () => {
    const asked: unknown[] = [];
    const { machine, codeFor, folder } = setUp({
      mayWrite: () => false,
      rights: { platform: 'linux', privileged: false, pkexec: '/usr/bin/pkexec' },
      run: ({ command, args, asks }) => {
        asked.push([command, args[0], asks]);
        return Promise.resolve({ exitCode: 126, stderr: 'Error executing command as another user: Not authorized\n' });
      },
    });
    expect((await machine.apply(WISH, await codeFor('ports'))).changes[0]).toMatchObject({
      state: 'pending',
      message: expect.stringContaining('Not authorized'),
      command: expect.stringContaining(`sudo sh ${folder}/apply-`),
    });
    expect(asked).toEqual([['/usr/bin/pkexec', '/bin/sh', true]]);
  });

  it('undo.sh asks sudo only for the files', async () => {
    const { machine, ledger, root, before } = setUp();
    await applyAll(machine);
    const programs = temporaryFolder();
    const stub = (name: string, text: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    stub('id', 'echo "${AS:-1000}"');
    stub('sudo', `echo "$@" >>${programs}/asked; AS=0 exec "$@"`);
    const run = (...words: string[]) =>
      execFileSync('/bin/sh', [ledger.undoScript, ...words], { env: { PATH: `${programs}:${crashAt(0).path}` } });
    run('ports');
    expect((await machine.status()).changes.map(({ id, state }) => [id, state])).toContainEqual(['ports', 'pending']);
    run();
    expect(readFileSync(join(programs, 'asked'), 'utf8').trim().split('\n')).toEqual([
      `sh ${ledger.undoScript} --files ports`,
      `sh ${ledger.undoScript} --files`,
    ]);
    expect(treeOf(root)).toEqual(before);
  });
});

/** Mounts need a namespace, which containers may refuse. */
const canUnshare = isLinux && spawnSync('unshare', ['-rmn', 'true']).status === 0;

test.runIf(canUnshare)('in a mount namespace, the scripts change the system’s own paths, and restore them', () => {
  const root = makeRoot({ ...SET_UPS['systemd-resolved'], ...BROWSERS, 'mounted-hosts': '127.0.0.1 localhost\n' });
  const folder = temporaryFolder();
  const wish = { ...WISH };
  const scripts = planLinux(wish, lookAt(root)).map((change, index) => {
    const path = join(folder, `apply-${index}.sh`);
    writeFileSync(path, renderPosixApply(change, ''));
    return path;
  });
  const undo = openLedger({ folder, platform: 'linux', root: '' });
  const at = '2026-11-22T12:00:00.000Z';
  undo.write(
    planLinux(wish, lookAt(root)).map(({ id, kind, what, steps, afterApply, afterUndo }) => ({
      ...{ id, kind, what, steps, afterApply, afterUndo, at, dataDir: '/data', code: '' },
    })),
  );
  mkdirSync(join(root, 'run'), { recursive: true });
  // As in containers, /etc/hosts is a mount: nothing can be renamed onto it.
  const session = `set -e
export PATH=${crashAt(0).path}
mount --bind ${root}/etc /etc
mount --bind ${root}/etc/hosts /etc/hosts
cp -a /etc ${folder}/before
cat /proc/sys/net/ipv4/ip_unprivileged_port_start >${folder}/port
${scripts.map((script) => `sh ${script}`).join('\n')}
cp -a /etc ${folder}/during
cat /proc/sys/net/ipv4/ip_unprivileged_port_start
sh ${undo.undoScript} --files
diff -r --no-dereference ${folder}/before /etc
cmp ${folder}/port /proc/sys/net/ipv4/ip_unprivileged_port_start
`;
  const { status, stdout, stderr } = spawnSync('unshare', ['-rmn', 'sh', '-c', session], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '80\n', stderr: '' });
  const during = (name: string): string => readFileSync(join(folder, 'during', name), 'utf8');
  expect(during('hosts')).toContain('127.0.0.1 shop.acme.test');
  expect(during('firefox/policies/policies.json')).toContain('"ProviderURL": "https://localhost:8443/dns-query"');
  expect(during('chromium/policies/managed/vivarium.json')).toContain(`"ProxyPacUrl": "${WISH.pacUrl}"`);
});

test.runIf(isLinux)('a file that is torn, because it had to be written in place, is repaired', async () => {
  const { machine, codeFor, file, root, before } = setUp();
  await machine.apply(WISH, await codeFor('hosts:shop.acme.test'));
  const whole = readFileSync(file('etc/hosts'));
  // The power failed while the file was overwritten with the text beside it.
  writeFileSync(file('etc/hosts.vivarium-new'), whole);
  writeFileSync(file('etc/hosts'), whole.subarray(0, 20));
  expect((await machine.status()).changes).toMatchObject([{ state: 'partial' }]);
  expect(remainingChanges(await machine.undo({ take: false }))).toEqual([]);
  expect(treeOf(root)).toEqual(before);
});
