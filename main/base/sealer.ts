/**
 * Seals secrets with the keyring of this user's session, which gives them back to this user on this machine only. The
 * desktop app has one; plain Node has none.
 */
export interface Sealer {
  /** Why sealing would protect nothing here, as a sentence, or null. Asks nobody for a password. */
  refusal(): string | null;
  /** Rejects when the keyring is locked or gone. */
  seal(text: string): Promise<Uint8Array>;
  /** `outdated`: the keyring has a newer key, and the text should be sealed again. Rejects when it is not ours to open. */
  open(sealed: Uint8Array): Promise<{ text: string; outdated: boolean }>;
}
