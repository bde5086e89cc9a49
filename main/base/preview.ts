/** Opens a desktop window for one hostname, without a browser or changes to trust stores. */
export interface PreviewRequest {
  hostname: string;
  url: string;
  /** The forward proxy that carries all of the window's traffic. */
  proxyUrl: string;
  /** Whether a hostname in normal form is served. */
  isMapped: (hostname: string) => boolean;
  /** The current root, in PEM. */
  rootPem: () => string;
}

/** Resolves when the window is open. @throws VivariumError `conflict` if too many are open. */
export type OpenPreview = (request: PreviewRequest) => Promise<void>;
