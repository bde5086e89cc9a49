/** A window of the desktop app that shows one hostname, and needs neither a browser nor trust. */
export interface PreviewRequest {
  hostname: string;
  url: string;
  /** The forward proxy, through which all of it goes. */
  proxyUrl: string;
  /** Whether something is served for a hostname in normal form. */
  isMapped: (hostname: string) => boolean;
  /** The root in force, in PEM. */
  rootPem: () => string;
}

/** Resolves when the window is there. @throws VivariumError `conflict` when too many are open. */
export type OpenPreview = (request: PreviewRequest) => Promise<void>;
