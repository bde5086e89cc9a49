import type { Operation, Refusal, Reply } from './provider.ts';

/** For calls of services, which nothing cancels. */
export const CONTEXT = { signal: undefined };

export const ok = (body: unknown, status = 200): Reply => ({ status, body });

/** An operation; `on` is its method and path. */
export function operation(
  name: string,
  on: string,
  handle: Operation['handle'],
  more: Partial<Operation> = {},
): Operation {
  const [method = '', path = ''] = on.split(' ');
  return { name, method, path, handle, ...more };
}

/** An operation that is counted and not emulated. */
export const missing = (name: string, on: string, why: string): Operation =>
  operation(name, on, () => ok(null, 501), { missing: why });

export const NO_UPLOAD = 'All certificates here are signed by Vivarium’s own root; one of another CA has no place.';

/** A refusal, thrown from anywhere in an operation. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function refuse(status: number, code: string, message: string, more: Refusal['more'] = {}): never {
  throw new Refused({ status, code, message, more });
}
