// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { MachineChange } from '../../../../../main/contract/machine.ts';
import { MachineChanges } from '../../../../../renderer/shared/reach/machine-changes.svelte.ts';
import type { Answers } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

const HOST = 'www.acme.test';
const COMMON = { id: 'ports', kind: 'ports', what: 'Ports 80 and 443 for Vivarium', steps: [], runs: [] } as const;
const MADE: MachineChange = {
  ...{ ...COMMON, steps: [], runs: [], state: 'applied', command: 'vivarium machine undo --ids ports' },
  ...{ at: '2026-11-22T12:00:00.000Z', dataDir: '/data' },
};
const PLANNED: MachineChange = {
  ...{ ...COMMON, steps: [], runs: [], state: 'planned', plan: '3f2a91c0' },
  command: 'vivarium machine apply www.acme.test 3f2a91c0',
};

async function setUp(answers: Answers = {}) {
  const parts = pageParts({
    'machine.plan': () => ({ hostname: HOST, zone: HOST, resolvesTo: [], changes: [PLANNED], ledger: '/l' }),
    'machine.apply': () => ({ changes: [MADE] }),
    'machine.undo': () => ({ changes: [{ ...MADE, state: 'undone' }] }),
    ...answers,
  });
  const machine = new MachineChanges({ ...parts.source, hostname: HOST });
  await settle();
  return { ...parts, machine, asked: () => parts.asked('machine.apply', 'machine.undo') };
}

describe('a change of the machine', () => {
  it('is made as it was shown, and read again', async () => {
    const { machine, asked, calls } = await setUp();
    const applying = machine.apply(PLANNED);
    expect(machine.busy).toBe('ports');
    await machine.apply({ ...PLANNED, id: 'hosts:a.test' });
    await applying;
    expect([machine.busy, asked()]).toEqual([undefined, [{ hostname: HOST, plan: '3f2a91c0' }]]);
    await settle();
    expect(calls.filter(({ procedure }) => procedure === 'machine.plan').length).toBeGreaterThan(1);
  });

  it('shows the command if a password is required, until it was pasted', async () => {
    const pending = { ...MADE, state: 'pending', command: 'sudo sh apply.sh' } as const;
    const { machine } = await setUp({
      'machine.apply': () => ({ changes: [{ ...pending, message: 'Not authorized' }] }),
    });
    await machine.apply(PLANNED);
    expect(machine.reportOn(PLANNED)).toMatchObject({ message: 'Not authorized', command: 'sudo sh apply.sh' });
    machine.look();
    expect(machine.reportOn(pending)).toEqual({ command: 'sudo sh apply.sh' });
    expect(machine.reportOn(MADE)).toEqual({});
  });

  it.each([
    ['applied', false],
    ['changed', true],
  ] as const)('that is %s is undone; what others changed with it: %s', async (state, take) => {
    const left = { ...MADE, state: 'changed', message: '/etc/x was changed since, and is left alone.' };
    const { machine, asked } = await setUp({ 'machine.undo': () => ({ changes: [left] }) });
    await machine.undo({ ...MADE, state });
    expect(asked()).toEqual([{ ids: ['ports'], take }]);
    expect(machine.reportOn(MADE).message).toContain('left alone');
  });
});
