/** The scheme and host under which the window's page is served, from files, by this process alone. */
export const PAGE_SCHEME = 'app';
const PAGE_HOST = 'vivarium';
export const PAGE_ORIGIN = `${PAGE_SCHEME}://${PAGE_HOST}`;
export const PAGE_URL = `${PAGE_ORIGIN}/`;

/** Whether `text` is an address of the window's own page. */
export function isPageUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === `${PAGE_SCHEME}:` && url.host === PAGE_HOST && url.username === '';
}
