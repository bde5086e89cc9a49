/** Opens a desktop window for one hostname, without a browser or changes to trust stores. */
export interface PreviewRequest {
  hostname: string;
  url: string;
  /** The forward proxy that carries all of the window's traffic. */
  proxyUrl: string;
  /** Whether a hostname in normal form is served. */
  isMapped: (hostname: string) => boolean;
  /** The certificates that may have signed a leaf, in PEM: the root and its intermediate. */
  issuerPems: () => readonly string[];
}

/** Resolves when the window is open. @throws VivariumError `conflict` if too many are open. */
export type OpenPreview = (request: PreviewRequest) => Promise<void>;

/**
 * Encrypts secrets with the user's keyring, for this user on this machine only. Available in the desktop app, but not
 * in plain Node.
 */
export interface Sealer {
  /** Why sealing would give no protection here, as a sentence, or null. Never prompts for a password. */
  refusal(): string | null;
  /** Rejects if the keyring is locked or unavailable. */
  seal(text: string): Promise<Uint8Array>;
  /** `outdated`: the keyring has a newer key, so the text should be sealed again. Rejects if it cannot be decrypted. */
  open(sealed: Uint8Array): Promise<{ text: string; outdated: boolean }>;
}

export interface DesktopFacts {
  electron: string;
  chromium: string;
  /** The library behind node:crypto and node:tls, by its own name. */
  cryptography: string;
  /** The desktop and its display server, such as `GNOME on Wayland`. */
  session: string;
  /** Chromium's word for compositing, such as `enabled` or `disabled_software`. */
  gpu: string;
  /** Whether the processes of pages are confined. */
  sandboxed: boolean;
  /** Based on the results of sealing, not on the session's promise. */
  keyring: { state: 'untried' | 'sealed' } | { state: 'refused'; reason: string };
  tray: boolean;
}

/** The file in the XDG autostart folder; named like the desktop entry of the installed app. */
export const AUTOSTART_ENTRY = 'localhost.vivarium.app.desktop';
