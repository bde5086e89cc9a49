import type { EpochMs } from '../base/clock.ts';

/** A request that was answered with a problem: most of them leave no order behind, which could tell of them. */
export interface AcmeRefusal {
  readonly atMs: EpochMs;
  /** The last part of the problem's URN, and its sentence. */
  readonly type: string;
  readonly detail: string;
  /** `/acme/classic/new-order`. */
  readonly path: string;
  /** Of a request whose signature is right. */
  readonly accountId?: string;
  readonly orderId?: string;
  /** Of the order that was wanted. */
  readonly names?: readonly string[];
}

/** The last ones, in memory. */
const REFUSALS_KEPT = 100;
const DETAIL_LENGTH_MAX = 2_000;
/** A client can send one of many kilobytes. */
const PATH_LENGTH_MAX = 200;
const NAMES_KEPT = 10;

export interface Refusals {
  add(refusal: AcmeRefusal): void;
  /** Newest first. */
  list(): readonly AcmeRefusal[];
  clear(): void;
}

export function createRefusals(): Refusals {
  let kept: readonly AcmeRefusal[] = [];
  return {
    add({ detail, path, names, ...refusal }) {
      const short = {
        ...{ ...refusal, detail: detail.slice(0, DETAIL_LENGTH_MAX), path: path.slice(0, PATH_LENGTH_MAX) },
        ...(names !== undefined && { names: names.slice(0, NAMES_KEPT) }),
      };
      kept = [short, ...kept.slice(0, REFUSALS_KEPT - 1)];
    },
    list: () => kept,
    clear: () => void (kept = []),
  };
}
