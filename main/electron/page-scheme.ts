import { protocol } from 'electron';
import { createPageFiles } from './page-files.ts';
import { PAGE_SCHEME } from './page-url.ts';

/** Makes `app:` an origin like `https:`, with storage, modules and a policy of its own. Before the app is ready. */
export function registerPageScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: PAGE_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** Serves the page from the folder of the built interface. Once the app is ready. */
export function servePage(folder: string): void {
  protocol.handle(PAGE_SCHEME, createPageFiles(folder));
}
