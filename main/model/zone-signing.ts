import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { epochMs } from '../contract/values.ts';
import { zoneBreak } from '../contract/zones.ts';

/** An ECDSA P-256 key as stored: its private and public numbers (RFC 7518 §6.2), in base64url. */
const storedKey = z.object({ d: z.string(), x: z.string(), y: z.string() });
export type StoredKey = z.infer<typeof storedKey>;

/** @throws Error for numbers that are not those of a key */
export const privateKeyOf = ({ d, x, y }: StoredKey): KeyObject =>
  createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d, x, y }, format: 'jwk' });

function isKey(stored: StoredKey): boolean {
  try {
    return privateKeyOf(stored).type === 'private';
  } catch {
    return false;
  }
}

const KEY = 'must be a P-256 key';

/** How a zone's answers are signed (DNSSEC). */
export const zoneSigning = z.object({
  /** Keys are kept while signing is off, so trust anchors remain valid when it is turned on again. */
  on: z.boolean(),
  /** `retiresAtMs`: when a roll to the next key ends. */
  keys: z.array(storedKey.extend({ retiresAtMs: epochMs.nullable() }).refine(isKey, KEY)).readonly(),
  /** How the signatures are broken; null if they are not. */
  broken: zoneBreak.nullable(),
  /** The key of the break `wrong-key`. */
  stranger: storedKey.refine(isKey, KEY).nullable(),
});
export type ZoneSigning = z.infer<typeof zoneSigning>;
