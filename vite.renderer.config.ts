import { existsSync, readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const ENGINE_LICENCES = `${import.meta.dirname}/out/main/licences.txt`;

/** Puts the licences of what the engine is made of beside those of the interface; the engine is built first. */
const engineLicences: Plugin = {
  name: 'engine-licences',
  generateBundle() {
    if (!existsSync(ENGINE_LICENCES)) return;
    this.emitFile({ type: 'asset', fileName: 'licences-engine.txt', source: readFileSync(ENGINE_LICENCES) });
  },
};

/**
 * Lets the browser fetch the page that nearly everybody opens first together with what every page needs, instead of after
 * it has been run.
 */
const firstPage: Plugin = {
  name: 'first-page',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      const chunks = Object.values(bundle ?? {}).filter((file) => file.type === 'chunk');
      const first = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/views/OverviewView.svelte'));
      if (first === undefined) throw new Error('The build has no chunk of the Overview.');
      return [first.fileName, ...first.imports]
        .filter((fileName) => !html.includes(fileName))
        .map((fileName) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `/${fileName}` },
          injectTo: 'head' as const,
        }));
    },
  },
};

/**
 * Builds the interface into `out/renderer`. The control port serves it under `default-src 'self'`, so nothing may be
 * inlined: no data: URLs, no inline scripts. Every file but index.html carries its hash and can be cached for ever.
 */
export default defineConfig({
  root: `${import.meta.dirname}/renderer`,
  // The same files are served from http://127.0.0.1 and from app://, always at the root.
  base: '/',
  publicDir: false,
  plugins: [svelte({ configFile: false }), firstPage, engineLicences],
  build: {
    outDir: `${import.meta.dirname}/out/renderer`,
    emptyOutDir: true,
    // Electron 45 and the browsers of the last year: `light-dark()`, nesting and `:has()` need no translation.
    target: ['chrome130', 'firefox133', 'safari18.2'],
    assetsInlineLimit: 0,
    license: { fileName: 'licences.txt' },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    // One file of styles, and one of what several pages share: of the many small ones, each would be a request.
    cssCodeSplit: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', test: /\/renderer\//, minShareCount: 2 }] } },
    },
  },
});
