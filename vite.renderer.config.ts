import { existsSync, readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const ENGINE_LICENCES = `${import.meta.dirname}/out/main/licences.txt`;

/** Copies the licences of the engine's dependencies next to the interface's. The engine is built first. */
const engineLicences: Plugin = {
  name: 'engine-licences',
  generateBundle() {
    if (!existsSync(ENGINE_LICENCES)) return;
    this.emitFile({ type: 'asset', fileName: 'licences-engine.txt', source: readFileSync(ENGINE_LICENCES) });
  },
};

/** Every styled element carries its component's hash as a class, so long hashes would be 1 % of the interface. */
const shortHash = ({ hash, filename }: { hash: (input: string) => string; filename: string }): string =>
  `s${hash(filename).slice(0, 4)}`;

/**
 * Removes what Svelte's compiler adds to every component for other programs: the slots of Svelte 4, which no component
 * here or in a package uses, and steps over markup that a server rendered. They would be 1 % of the interface.
 */
const NEEDLESS = /,\s*\$\$slots: \{[^}]*\}|^\s*\$\.(?:reset\(\w+\)|next\(\d*\));$/gm;
const withoutNeedless: Plugin = {
  name: 'without-needless',
  transform(code, id) {
    return id.endsWith('.svelte') ? { code: code.replaceAll(NEEDLESS, ''), map: null } : undefined;
  },
};

/** All pages except the Overview, which most users open first, and the pages outside the frame. */
const OTHER_PAGES = /\/renderer\/pages\/(?!home\/)[\w/-]+View\.svelte$/;

/** The fonts of nearly all text. */
const FIRST_FONTS = /(?:source-sans-3|jetbrains-mono)-latin-wght-normal-.*\.woff2$/;

/** Makes the browser load the fonts in parallel with the frame, instead of after it has been run and laid out. */
const firstFonts: Plugin = {
  name: 'first-fonts',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle }) =>
      Object.keys(bundle ?? {})
        .filter((fileName) => FIRST_FONTS.test(fileName))
        .map((fileName) => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${fileName}`, crossorigin: true },
          injectTo: 'head' as const,
        })),
  },
};

/**
 * Builds the interface into `out/renderer`. The control port serves it under `default-src 'self'`, so nothing may be
 * inlined: no data: URLs, no inline scripts. Every file name except index.html contains a hash, so the files can be
 * cached for ever.
 */
export default defineConfig({
  root: `${import.meta.dirname}/renderer`,
  // The same files are served from http://127.0.0.1 and from app://, always at the root.
  base: '/',
  publicDir: false,
  plugins: [
    svelte({ configFile: false, compilerOptions: { cssHash: shortHash } }),
    withoutNeedless,
    firstFonts,
    engineLicences,
  ],
  build: {
    outDir: `${import.meta.dirname}/out/renderer`,
    emptyOutDir: true,
    // Electron 45 and browsers of the last year support `light-dark()`, nesting and `:has()` natively.
    target: ['chrome130', 'firefox133', 'safari18.2'],
    assetsInlineLimit: 0,
    license: { fileName: 'licences.txt' },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    // One style sheet, and two scripts: the frame with the Overview, and all other pages. Similar code compresses better
    // in one file: a file for each page would be 6 % larger in total, with a request for each.
    cssCodeSplit: false,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          groups: [
            { name: 'frame', test: /\/renderer\/(?:app\/main\.ts|pages\/home\/HomeView\.svelte)$/, priority: 2 },
            { name: 'pages', test: OTHER_PAGES, priority: 1 },
          ],
        },
      },
    },
  },
});
