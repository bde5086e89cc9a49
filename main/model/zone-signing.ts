import type { EpochMs } from '../base/clock.ts';
import type { ZoneBreak } from '../contract/zones.ts';

/** An ECDSA P-256 key as stored: its private and public numbers (RFC 7518 §6.2), in base64url. */
export interface StoredKey {
  d: string;
  x: string;
  y: string;
}

/** How a zone's answers are signed (DNSSEC). */
export interface ZoneSigning {
  /** Keys are kept while signing is off, so trust anchors remain valid when it is turned on again. */
  on: boolean;
  /** `retiresAtMs`: when a roll to the next key ends. */
  keys: readonly (StoredKey & { retiresAtMs: EpochMs | null })[];
  /** How the signatures are broken; null if they are not. */
  broken: ZoneBreak | null;
  /** The key of the break `wrong-key`. */
  stranger: StoredKey | null;
}
