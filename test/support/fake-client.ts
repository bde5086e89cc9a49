import { createORPCClient, ORPCError, type ClientLink } from '@orpc/client';
import type { InputIssue } from '../../main/contract/errors.ts';
import type { Change } from '../../renderer/connection/connection.svelte.ts';
import type { Client } from '../../renderer/connection/transport.ts';

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

/** The engine's refusal of a call, with the fields that it names. */
export const refusal = (code: string, message: string, ...issues: InputIssue[]) =>
  new ORPCError(code, { message, ...(issues.length > 0 && { data: { issues } }) });

/** An answer of `fakeClient` that is this refusal. */
export const refuses =
  (...of: Parameters<typeof refusal>) =>
  () => {
    throw refusal(...of);
  };

/** Changes that a test reports. */
export function fakeChanges() {
  const listeners = new Set<(change: Change) => void>();
  return {
    following: true,
    listeners,
    subscribe(listener: (change: Change) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: (change: Change) => listeners.forEach((listener) => listener(change)),
  };
}
