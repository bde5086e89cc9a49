/** What a rule strikes: every n-th of what it selects, and of these a share. */
export interface Choice {
  seed: number;
  nth: number;
  rate: number;
}

/**
 * Whether a rule strikes the `n`-th (from 1) of what it selects: a number from 0 up to 1 for faults that choose, or
 * null for no fault. Depends on nothing else, so that the same seed and requests give the same faults.
 */
export function decide({ seed, nth, rate }: Choice, n: number): number | null {
  if (n % nth !== 0) return null;
  return rate < 1 && fraction(seed, n, RATE) >= rate ? null : fraction(seed, n, DRAW);
}

/** Two independent series of numbers from one seed. */
const RATE = 0x9e37_79b9;
const DRAW = 0x85eb_ca6b;

const UINT32 = 2 ** 32;

function fraction(seed: number, n: number, series: number): number {
  const low = mixed((seed ^ series) + Math.imul((n % UINT32) | 0, 0x2745_937f));
  return (mixed(low ^ Math.floor(n / UINT32)) >>> 0) / UINT32;
}

/** The finalizer of MurmurHash3 (public domain): each bit of the input changes half of those of the output. */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return bits ^ (bits >>> 16);
}
