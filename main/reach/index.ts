/** What the composition root takes from here; everything else is for this folder and its tests. */
export { createMappedHostnames, type MappedHostnames } from './mapped-hostnames.ts';
export { PAC_CONTENT_TYPE, renderPac } from './pac.ts';
