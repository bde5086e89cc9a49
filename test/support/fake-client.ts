import { createORPCClient, type ClientLink } from '@orpc/client';
import type { Change } from '../../renderer/connection/connection.svelte.ts';
import type { Client } from '../../renderer/connection/transport.ts';
import type { ChangeSource } from '../../renderer/connection/live-query.svelte.ts';

/** How a test answers a procedure; the page receives what it throws. */
export type Answers = Record<string, (input: never) => unknown>;

/** A client without an engine: each procedure answers as the test specifies, and every call is kept. */
export function fakeClient(answers: Answers) {
  const calls: { procedure: string; input: unknown }[] = [];
  const link: ClientLink<Record<never, never>> = {
    async call(path, input) {
      const procedure = path.join('.');
      calls.push({ procedure, input });
      const answer = answers[procedure];
      if (answer === undefined) throw new Error(`The test does not say what ${procedure} answers.`);
      return answer(input as never);
    },
  };
  return {
    client: createORPCClient<Client>(link),
    calls,
    /** The names of the procedures that change something, in order. */
    changes: () => calls.map(({ procedure }) => procedure).filter((name) => !/\.(list|get|export|explain)$/.test(name)),
  };
}

/** Changes that a test reports. */
export function fakeChanges(): ChangeSource & { tell: (change: Change) => void } {
  const listeners = new Set<(change: Change) => void>();
  return {
    following: true,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: (change) => listeners.forEach((listener) => listener(change)),
  };
}
