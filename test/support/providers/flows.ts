import { expect, it } from 'vitest';
import type { ProviderEngine } from './engine.ts';

const WWW = 'www.acme.test';

/** How a provider's own client leads a hostname through its life, and what it is answered on the way. */
interface Flows<Attached> {
  engine(): ProviderEngine;
  /** What a CNAME record has to lead to. */
  target: string;
  attach(hostname: string): Promise<Attached>;
  /** Adds the record that proves whose the hostname is, where a CNAME record does not. */
  prove?(attached: Attached): Promise<unknown>;
  /** Asks for a check; `read` only reads. */
  check(attached: Attached): Promise<unknown>;
  read(attached: Attached): Promise<unknown>;
  expiry(attached: Attached): Promise<string | number | null | undefined>;
  /** Whether it looks at a new record by itself, and after how long. */
  scheduled?: string;
  answers: Record<'attached' | 'wrong' | 'right' | 'waits' | 'forbidden' | 'issuing' | 'ready' | 'expired', object> & {
    /** The record is right, and whose the hostname is has not been proven. */
    unproven?: object;
  };
  /** What else holds of a hostname that is ready. */
  once?(attached: Attached): Promise<void>;
}

/** The flows that all providers have. */
export function testFlows<Attached>(flows: Flows<Attached>): void {
  const { engine, target, attach, prove, check, read, expiry, scheduled, answers } = flows;
  const put = (name: string, type: string, value: string) => engine().put('acme.test', name, type, value);
  const forbid = () => put('@', 'CAA', '0 issue "other-ca.example"');
  const remove = (id: string) => engine().call('records.remove', { id });
  const advance = (by: string) => engine().call('clock.advance', { by });
  async function attachWithRecords() {
    const attached = await attach(WWW);
    await put('www', 'CNAME', target);
    await prove?.(attached);
    return attached;
  }

  it('attaches, says what is wrong, and is ready with a certificate when the records are right', async () => {
    const attached = await attach(WWW);
    expect(attached).toMatchObject(answers.attached);
    const { id } = await put('www', 'CNAME', 'elsewhere.acme.test');
    expect(await check(attached)).toMatchObject(answers.wrong);
    await engine().call('records.update', { id, value: target });
    if (answers.unproven) expect(await check(attached)).toMatchObject(answers.unproven);
    await prove?.(attached);
    expect(await check(attached)).toMatchObject(answers.right);
    expect(await engine().domain(WWW)).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
    await flows.once?.(attached);
  });

  if (scheduled)
    it('is checked by its own schedule, without being asked', async () => {
      const attached = await attachWithRecords();
      await advance(scheduled);
      expect(await read(attached)).toMatchObject(answers.ready);
    });

  it('has no certificate while CAA forbids it, in the words of the provider or its authority', async () => {
    const { id } = await forbid();
    const attached = await attachWithRecords();
    expect(await check(attached)).toMatchObject(answers.forbidden);
    await remove(id);
    expect(await check(attached)).toMatchObject(answers.ready);
  });

  it('waits for a record that takes an hour to propagate, and then for its issuance, by the clock', async () => {
    await engine().call('settings.update', { propagation: 'PT1H', issuanceDelay: 'PT10M' });
    const attached = await attachWithRecords();
    expect(await check(attached)).toMatchObject(answers.waits);
    await advance('PT1H1M');
    for (const look of scheduled ? [read, check] : [check]) expect(await look(attached)).toMatchObject(answers.issuing);
    await advance('PT11M');
    expect(await read(attached)).toMatchObject(answers.ready);
  });

  it('renews a certificate, has an expired one where CAA forbids that, and a new one after it', async () => {
    const attached = await attachWithRecords();
    await check(attached);
    const days = async () => new Date((await expiry(attached)) ?? '').getTime() / 86_400_000;
    const first = await days();
    await advance('P61D');
    expect((await days()) - first).toBeGreaterThan(59);
    const { id } = await forbid();
    await advance('P92D');
    expect(await read(attached)).toMatchObject(answers.expired);
    await remove(id);
    await advance('P2D');
    expect(await read(attached)).toMatchObject(answers.ready);
  });
}
