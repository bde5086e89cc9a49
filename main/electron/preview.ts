import { BrowserWindow, session, type Session, type WebContents } from 'electron';
import { realTime } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { PreviewRequest } from '../base/system/desktop.ts';
import { conflict } from '../contract/errors.ts';
import { denyPermissions, isFetchable, isOwnCertificate, isPreviewable } from './rules.ts';
import { revealInTime } from './window-state.ts';
import { PAGE_PREFERENCES } from './window.ts';

/** In memory only, and separate from the app's own page. */
const PARTITION = 'vivarium-preview';

const PREVIEWS_MAX = 5;

/** Chromium's results of certificate verification: accept, reject. */
const ACCEPTED = 0;
const REFUSED = -2;

/**
 * Windows that show served hostnames. All their traffic goes to Vivarium's proxy, which forwards nowhere else; only
 * certificates of Vivarium's root are accepted. The page has no preload script, permissions or downloads, and may
 * navigate to served hostnames only.
 */
export function createPreviews({ log, iconFile }: { log: Log; iconFile: string }) {
  const windows = new Set<BrowserWindow>();
  let own: Session | null = null;
  let served: PreviewRequest | null = null;

  function lockDown(preview: Session): void {
    denyPermissions(preview);
    preview.setSpellCheckerEnabled(false);
    preview.on('will-download', (event) => event.preventDefault());
    preview.webRequest.onBeforeRequest(({ url }, callback) => callback({ cancel: !isFetchable(url) }));
    preview.setCertificateVerifyProc(({ hostname, certificate }, callback) => {
      const shown = { hostname, pem: certificate.data, nowMs: realTime.now() };
      const accepted = served !== null && isOwnCertificate(shown, served);
      if (!accepted) log.warn('A preview refused a certificate', { hostname, issuer: certificate.issuerName });
      callback(accepted ? ACCEPTED : REFUSED);
    });
  }

  return {
    /** @throws VivariumError `conflict` when too many are open. */
    async open(request: PreviewRequest): Promise<void> {
      if (windows.size >= PREVIEWS_MAX) {
        throw conflict(`${PREVIEWS_MAX} preview windows are open already. Close one of them.`);
      }
      served = request;
      if (own === null) lockDown((own = session.fromPartition(PARTITION)));
      const { host } = new URL(request.proxyUrl);
      // Includes names under .localhost, which Chromium would otherwise resolve to loopback itself.
      await own.setProxy({ mode: 'fixed_servers', proxyRules: host, proxyBypassRules: '<-loopback>' });
      const window = new BrowserWindow({
        width: 1100,
        height: 760,
        title: request.hostname,
        icon: iconFile,
        show: false,
        webPreferences: { ...PAGE_PREFERENCES, session: own },
      });
      // WebRTC would send datagrams past the proxy.
      window.webContents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp');
      windows.add(window);
      window.once('closed', () => windows.delete(window));
      // The title is all that names the hostname; a page could take that of another one.
      window.on('page-title-updated', (event) => event.preventDefault());
      const reveal = revealInTime(window, () => window.show(), realTime);
      window
        .loadURL(request.url)
        .catch((error: unknown) => log.warn('A preview could not be loaded', { url: request.url, error }))
        .finally(reveal);
    },
    /** Whether a page belongs to a preview, and where it may navigate. */
    has: (contents: WebContents): boolean => own !== null && contents.session === own,
    mayShow: (url: string): boolean => served !== null && isPreviewable(url, served),
  };
}
