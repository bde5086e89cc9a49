import type { ChangeEvent } from '../../../main/contract/status.ts';
import { Session } from '../../../renderer/shared/session/session.svelte.ts';
import { createMemoryStorage, KeptValues } from '../../../renderer/shared/session/storage.ts';
import { Toasts } from '../../../renderer/shared/session/toasts.svelte.ts';
import { type Answers, fakeChanges, fakeClient } from '../fake-client.ts';
import { createFakeClock, settle, type FakeClock } from '../fake-clock.ts';
import type { FakeTransport } from './page-link.ts';
import { CREATED_AT } from './page-world.ts';

/** What view state is made of, without an engine: `answers` may be added to and replaced later. */
export function pageParts(answers: Answers = {}) {
  const time = createFakeClock();
  const changes = fakeChanges();
  const toasts = new Toasts(time);
  const { client, calls, changes: changed } = fakeClient(answers);
  return {
    time,
    changes,
    toasts,
    client,
    calls,
    changed,
    answers,
    source: { client, changes, time },
    /** The inputs of the calls of these procedures, in order. */
    asked: (...procedures: string[]) =>
      calls.filter(({ procedure }) => procedures.includes(procedure)).map(({ input }) => input),
    /** The texts of the toasts. */
    said: () => toasts.list.map(({ text }) => text),
    /** Reports a change, and waits until what it concerns has been read again. */
    async tell(type: ChangeEvent['type'], rest: Partial<ChangeEvent> = {}) {
      changes.tell({ type, at: CREATED_AT, ...rest });
      await settle();
      await time.pass(1_000);
    },
    async undo() {
      toasts.undoLast();
      await settle();
      await settle();
    },
  };
}

export const noViews = () => new KeptValues(createMemoryStorage(), '');

/** A session over `transport` that keeps no drafts. */
export const openSession = (transport: FakeTransport, time: FakeClock, storage = createMemoryStorage()) =>
  new Session({ transport, time, storage, drafts: noViews(), named: () => undefined });
