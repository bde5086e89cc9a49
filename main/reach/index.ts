/** What the composition root takes from here; everything else is for this folder and its tests. */
export { createBrowserProcesses } from './browser-processes.ts';
export { createMappedHostnames } from './mapped-hostnames.ts';
export { createBrowserOpener } from './open-browser.ts';
export { makeInstructions } from './instructions.ts';
export { PAC_CONTENT_TYPE, renderPac } from './pac.ts';
export { reachedAddress, type ReachedAddress } from './reached-address.ts';
export { directUrl, makeSnippets } from './snippets.ts';
