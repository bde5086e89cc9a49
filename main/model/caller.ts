import type { PlanLimits } from '../contract/projects.ts';
import type { Decision } from './rate-decision.ts';

/**
 * The party that a request is counted for, within one project: an API key or, without a valid one, the client's
 * address.
 */
export type Caller =
  | { kind: 'key'; keyId: string; projectId: string }
  | { kind: 'address'; address: string; projectId: string };

/** The caller's name within its project: `key:<id>` or `address:<ip>`. */
export const callerName = (caller: Caller): string =>
  caller.kind === 'key' ? `key:${caller.keyId}` : `address:${caller.address}`;

/** The limiter's interface for the data plane. */
export interface RequestLimiter {
  /** Decides on one request, and counts it unless refused. */
  take(caller: Caller, limits: PlanLimits): Decision;
  /** The rate state of a hypothetical request, without counting one. */
  peek(caller: Caller, limits: PlanLimits): Decision;
}
