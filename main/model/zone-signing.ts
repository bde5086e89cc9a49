import type { EpochMs } from '../base/clock.ts';
import type { ZoneBreak } from '../contract/zones.ts';

/** A key of ECDSA with P-256 as it is stored: its private and public numbers (RFC 7518 §6.2), in base64url. */
export interface StoredKey {
  d: string;
  x: string;
  y: string;
}

/** How a zone's answers are signed (DNSSEC). */
export interface ZoneSigning {
  /** Keys outlive the switch, so trust anchors remain valid when it is on again. */
  on: boolean;
  /** `retiresAtMs`: when a roll to the next key ends. */
  keys: readonly (StoredKey & { retiresAtMs: EpochMs | null })[];
  /** The fault of the signatures. */
  broken: ZoneBreak | null;
  /** The key of the break `wrong-key`. */
  stranger: StoredKey | null;
}
