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

/** Every element with a style of its component carries the component's hash: a long one is 1 % of what is shipped. */
const shortHash = ({ hash, filename }: { hash: (input: string) => string; filename: string }): string =>
  `s${hash(filename).slice(0, 4)}`;

/**
 * Svelte tells every component which slots of Svelte 4 it was given. None here, nor in a package, has slots: they take
 * snippets. It is 0.4 % of what is shipped.
 */
const withoutSlots: Plugin = {
  name: 'without-slots',
  transform(code, id) {
    return id.endsWith('.svelte') ? { code: code.replaceAll(/,\s*\$\$slots: \{[^}]*\}/g, ''), map: null } : undefined;
  },
};

/** All but the Overview, which nearly everybody opens first, and what is around the pages. */
const OTHER_PAGES = /\/renderer\/views\/(?!Overview|Session|SignIn)\w+View\.svelte$/;

/** The letters of nearly everything that is shown. */
const FIRST_FONTS = /(?:source-sans-3|jetbrains-mono)-latin-wght-normal-.*\.woff2$/;

/**
 * Lets the browser fetch the page that nearly everybody opens first, and its letters, together with what every page needs,
 * instead of after that has been run and laid out.
 */
const firstPage: Plugin = {
  name: 'first-page',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      const files = Object.values(bundle ?? {});
      const first = files
        .filter((file) => file.type === 'chunk')
        .find(({ moduleIds }) => moduleIds.some((id) => id.endsWith('/views/OverviewView.svelte')));
      if (first === undefined) throw new Error('The build has no chunk of the Overview.');
      const scripts = [first.fileName, ...first.imports].filter((fileName) => !html.includes(fileName));
      const fonts = files.map(({ fileName }) => fileName).filter((fileName) => FIRST_FONTS.test(fileName));
      const link = (attrs: Record<string, string | true>) => ({
        tag: 'link',
        attrs: { ...attrs, crossorigin: true },
        injectTo: 'head' as const,
      });
      return [
        ...scripts.map((fileName) => link({ rel: 'modulepreload', href: `/${fileName}` })),
        ...fonts.map((fileName) => link({ rel: 'preload', as: 'font', type: 'font/woff2', href: `/${fileName}` })),
      ];
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
  plugins: [
    svelte({ configFile: false, compilerOptions: { cssHash: shortHash } }),
    withoutSlots,
    firstPage,
    engineLicences,
  ],
  build: {
    outDir: `${import.meta.dirname}/out/renderer`,
    emptyOutDir: true,
    // Electron 45 and the browsers of the last year: `light-dark()`, nesting and `:has()` need no translation.
    target: ['chrome130', 'firefox133', 'safari18.2'],
    assetsInlineLimit: 0,
    license: { fileName: 'licences.txt' },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    // One file of styles; and of scripts one for the frame, one for the Overview with all that it needs, and one for all other
    // pages. What is alike compresses together: a file for each page would be 6 % more, and a request each.
    cssCodeSplit: false,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          groups: [
            { name: 'frame', test: /\/renderer\/main\.ts$/, priority: 3 },
            { name: 'first', test: /\/renderer\/views\/OverviewView\.svelte$/, priority: 2 },
            { name: 'pages', test: OTHER_PAGES, priority: 1 },
          ],
        },
      },
    },
  },
});
