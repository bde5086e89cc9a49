import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/**
 * Builds the interface into `out/renderer`. The control port serves it under `default-src 'self'`, so nothing may be
 * inlined: no data: URLs, no inline scripts. Every file but index.html carries its hash and can be cached for ever.
 */
export default defineConfig({
  root: `${import.meta.dirname}/renderer`,
  // The same files are served from http://127.0.0.1 and from app://, always at the root.
  base: '/',
  publicDir: false,
  plugins: [svelte({ configFile: false })],
  build: {
    outDir: `${import.meta.dirname}/out/renderer`,
    emptyOutDir: true,
    // Electron 45 and the browsers of the last year: `light-dark()`, nesting and `:has()` need no translation.
    target: ['chrome130', 'firefox133', 'safari18.2'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
  },
});
