import type { EpochMs } from '../base/clock.ts';

/** A request that was answered with a problem; most of them leave no order that could show it. */
export interface AcmeRefusal {
  readonly atMs: EpochMs;
  /** The last part of the problem's URN, and its detail. */
  readonly type: string;
  readonly detail: string;
  /** `/acme/classic/new-order`. */
  readonly path: string;
  /** The account, if the signature was verified. */
  readonly accountId?: string;
  readonly orderId?: string;
  readonly names?: readonly string[];
}

const REFUSALS_KEPT = 100;
const DETAIL_LENGTH_MAX = 2_000;
/** Paths are truncated: a client can send many kilobytes. */
const PATH_LENGTH_MAX = 200;
const NAMES_KEPT = 10;

export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals() {
  let kept: readonly AcmeRefusal[] = [];
  return {
    add({ detail, path, names, ...refusal }: AcmeRefusal): void {
      const short = {
        ...{ ...refusal, detail: detail.slice(0, DETAIL_LENGTH_MAX), path: path.slice(0, PATH_LENGTH_MAX) },
        ...(names !== undefined && { names: names.slice(0, NAMES_KEPT) }),
      };
      kept = [short, ...kept.slice(0, REFUSALS_KEPT - 1)];
    },
    /** Newest first. */
    list: () => kept,
    clear: () => void (kept = []),
  };
}
