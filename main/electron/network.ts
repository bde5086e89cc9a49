import type { Session } from 'electron';
import { PAGE_ORIGIN } from './page-url.ts';

/** Where a page could fetch from that is not this process. */
const FOREIGN_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:']);

/** Whether the window may load `text` at all, whatever asks for it. */
export const isLoadable = (text: string): boolean => !FOREIGN_SCHEMES.has(URL.parse(text)?.protocol ?? 'http:');

/** What the page makes itself and lets one save, such as an exported zone: never a file from elsewhere. */
export const isDownloadable = (text: string): boolean => text.startsWith(`blob:${PAGE_ORIGIN}/`);

/** The window reaches nothing over a network or from the disk, even where the page's own policy would let it. */
export function closeNetwork(session: Session): void {
  session.webRequest.onBeforeRequest(({ url }, callback) => callback({ cancel: !isLoadable(url) }));
  session.on('will-download', (event, item) => {
    if (!isDownloadable(item.getURL())) event.preventDefault();
  });
  // Chromium would fetch its dictionaries.
  session.setSpellCheckerEnabled(false);
}
