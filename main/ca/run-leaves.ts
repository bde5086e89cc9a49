import type { EpochMs } from '../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import type { Leaf } from '../model/leaf.ts';
import { createLeaf } from './leaf.ts';
import { createRoot } from './root.ts';

/** How long a leaf is valid in real time, the backdated hour included. */
export const RUN_LEAF_MS = DAY_MS;

/** How many days leaves are made for at once, since nothing can sign any more afterwards. */
export const RUN_DAYS = 7;

/** Each begins before the one before it ends. */
const STEP_MS = RUN_LEAF_MS - 2 * HOUR_MS;

export interface RunLeaves {
  rootPem: string;
  /** The leaf that is valid at this real time, with all hosts as its names; null when the last one has expired. */
  leafAt(realNowMs: EpochMs): Leaf | null;
}

/**
 * Leaves for hosts that belong to others, for one run. Makes a root that may sign for exactly these names and no
 * address, signs the leaves, and drops the root's key. The caller checks who asks, and for which host.
 */
export function createRunLeaves(hosts: readonly string[], realNowMs: EpochMs): RunLeaves {
  const root = createRoot({ realNowMs, owner: `run for ${hosts.join(' and ')}`, suffixes: hosts, ofRun: RUN_DAYS });
  const leaves = Array.from({ length: Math.ceil((RUN_DAYS * DAY_MS) / STEP_MS) }, (_, index) => {
    const at = realNowMs + index * STEP_MS;
    const state = () => ({ now: at, realNow: at, offsetMs: 0, frozen: false });
    return createLeaf({ issuer: root, hostnames: hosts, clock: { state }, lifetimeMs: RUN_LEAF_MS - HOUR_MS });
  });
  return {
    rootPem: root.certificatePem,
    leafAt: (nowMs) => leaves.find(({ wireNotAfterMs }) => nowMs < wireNotAfterMs - HOUR_MS / 2) ?? null,
  };
}
