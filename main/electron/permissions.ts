import type { Session } from 'electron';
import { isPageUrl } from './page-url.ts';

/** What the page may do beyond showing itself: put text on the clipboard when somebody presses a copy button. */
const PERMITTED: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

export const isPermitted = (permission: string, asking: { url: string | undefined; isMainFrame: boolean }): boolean =>
  PERMITTED.has(permission) && asking.isMainFrame && isPageUrl(asking.url ?? '');

/** Denies every permission but the one above, when it is asked for and when it is looked up, and every device. */
export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, callback, { requestingUrl, isMainFrame }) =>
    callback(isPermitted(permission, { url: requestingUrl, isMainFrame })),
  );
  session.setPermissionCheckHandler((_contents, permission, requestingOrigin, { isMainFrame }) =>
    isPermitted(permission, { url: requestingOrigin, isMainFrame }),
  );
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, callback) => callback(null));
}
