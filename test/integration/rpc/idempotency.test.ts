import { createORPCClient, safe } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { contract } from '../../../main/contract/index.ts';
import { isReading, OUTCOME_MS_MAX } from '../../../main/contract/calls.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { ContractClient } from '../../support/rpc/rpc-browser.ts';
import { CONTROL_TOKEN, startControl, type Control } from '../../support/rpc/rpc-control.ts';
import { SAMPLE_PET } from '../../support/rpc/rpc-fake-services.ts';

const PET = { projectId: 'p', name: 'Ghost', categoryId: '1' };

/** A control port whose `pets.create` counts its runs. */
async function countingControl() {
  const clock = createFakeClock();
  const control = await startControl({ clock });
  let created = 0;
  control.fake.stub('pets', 'create', () => ({ ...SAMPLE_PET, id: `${(created += 1)}` }));
  return { clock, control, created: () => created };
}

const post = async ({ post: send }: Control, key: string, input: unknown = PET, procedure = 'pets.create') => {
  const response = await send(procedure, input, { 'Idempotency-Key': key });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

async function connect({ port }: Control, key: string) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, ['vivarium', `token.${CONTROL_TOKEN}`]);
  onTestFinished(() => socket.terminate());
  const link = new RPCLink({ websocket: socket as never, headers: { 'idempotency-key': key } });
  return { socket, client: createORPCClient<ContractClient>(link) };
}

it('runs a call once per key, and repeats its outcome, over HTTP and WebSocket alike', async () => {
  const { control, created } = await countingControl();
  const first = await post(control, 'a');
  expect(first).toMatchObject({ status: 200, body: { id: '1' } });
  expect(await post(control, 'a')).toEqual(first);
  const { client } = await connect(control, 'a');
  expect((await client.pets.create(PET)).id).toBe('1');
  expect(await post(control, 'b')).toMatchObject({ body: { id: '2' } });
  expect(created()).toBe(2);
});

it('repeats a refusal, and refuses another input or procedure, or a malformed key', async () => {
  const { control, created } = await countingControl();
  const refused = await post(control, 'a', { projectId: 'p' });
  expect(refused.status).toBe(400);
  expect(await post(control, 'a', { projectId: 'p' })).toEqual(refused);
  expect(await post(control, 'a')).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(await post(control, 'a', { projectId: 'p' }, 'keys.create')).toMatchObject({ status: 409 });
  expect(await post(control, 'a b')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(await post(control, 'a'.repeat(101))).toMatchObject({ status: 400 });
  expect(created()).toBe(0);
});

it('lets a running call finish without its caller, and makes a second caller wait for it', async () => {
  const { control } = await countingControl();
  const begun = Promise.withResolvers<AbortSignal | undefined>();
  const answer = Promise.withResolvers<typeof SAMPLE_PET>();
  control.fake.stub('pets', 'create', (_input, { signal }) => {
    begun.resolve(signal);
    return answer.promise;
  });
  const { socket, client } = await connect(control, 'a');
  const lost = safe(client.pets.create(PET));
  const signal = await begun.promise;
  socket.terminate();
  expect((await lost).error).not.toBeNull();
  const again = post(control, 'a');
  answer.resolve(SAMPLE_PET);
  expect(await again).toMatchObject({ status: 200, body: SAMPLE_PET });
  expect([signal, control.fake.calls.length]).toEqual([undefined, 1]);
});

it('keeps outcomes for ten minutes of real time, whatever the app’s clock does', async () => {
  const { clock, control } = await countingControl();
  await post(control, 'a');
  await clock.advance(2 * OUTCOME_MS_MAX);
  await clock.pass(OUTCOME_MS_MAX - 1);
  expect(await post(control, 'a')).toMatchObject({ body: { id: '1' } });
  await clock.pass(1);
  expect(await post(control, 'a')).toMatchObject({ body: { id: '2' } });
});

it('runs read-only procedures every time', async () => {
  const { control } = await countingControl();
  let asked = 0;
  control.fake.stub('pets', 'get', () => ({ ...SAMPLE_PET, id: `${(asked += 1)}` }));
  for (const id of ['1', '2']) {
    expect(await post(control, 'a', { projectId: 'p', id }, 'pets.get')).toMatchObject({ status: 200 });
  }
  expect(asked).toBe(2);
});

it('covers every procedure that changes something', () => {
  const changing = Object.entries(contract).flatMap(([namespace, procedures]) =>
    Object.keys(procedures)
      .map((name) => `${namespace}.${name}`)
      .filter((procedure) => !isReading(procedure)),
  );
  expect(changing.join(' ')).toBe(
    'projects.create projects.demo projects.update projects.remove deploys.create keys.create keys.revoke limits.reset ' +
      'limits.unban api.send requests.save requests.forget pets.create pets.update pets.remove pets.updateMany pets.removeMany pets.clear ' +
      'pets.import pets.seed orders.create orders.remove domains.attach domains.verify domains.remove domains.setPrimary domains.setRedirects ' +
      'domains.import zones.create zones.remove zones.import zones.updateKey zones.dnssec records.put records.update ' +
      'records.remove certificates.renew certificates.revoke ca.extend ca.retract ca.renew ca.trust ca.untrust acme.createExternalKey acme.revokeExternalKey acme.revoke acme.deactivate acme.revokeAll acme.loseAuthorizations acme.resetLimits clock.advance clock.set clock.freeze clock.resume ' +
      'clock.reset traffic.clear traffic.replay traffic.send providers.connect providers.disconnect reach.open reach.preview runs.map runs.close machine.apply machine.undo lan.start lan.stop ' +
      'breaks.start breaks.stop breaks.stopAll drills.start drills.hint drills.answer drills.stop examinations.changed backup.create snapshots.save snapshots.restore snapshots.restoreFile snapshots.remove world.apply settings.update access.renewToken',
  );
});
