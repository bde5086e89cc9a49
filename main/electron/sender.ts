import type { WebFrameMain } from 'electron';
import { isPageUrl, PAGE_ORIGIN } from './page-url.ts';

/**
 * The one check of who speaks: the window's own page in its main frame, and nothing else. A frame that has gone
 * (`null`) is nobody.
 */
export const isOwnPage = (frame: Pick<WebFrameMain, 'origin' | 'parent' | 'url'> | null): boolean =>
  frame !== null && frame.parent === null && frame.origin === PAGE_ORIGIN && isPageUrl(frame.url);
