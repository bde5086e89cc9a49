import http from 'node:http';
import { builtinModules } from 'node:module';
import { defineConfig, type Plugin } from 'vite';
import { makeDeclarations } from './main/embed/declarations.ts';

/** V8 keeps a source with any character beyond Latin-1 in two bytes a character: 2 MB more for the engine. */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/** What `import 'vivarium'` is to TypeScript. */
const declarations: Plugin = {
  name: 'declarations',
  generateBundle() {
    for (const [fileName, source] of Object.entries(makeDeclarations())) {
      this.emitFile({ type: 'asset', fileName, source });
    }
  },
};

/** The test runners are those of the project that imports the fixtures. */
const EXTERNAL = ['better-sqlite3', 'electron', 'vitest', '@playwright/test', 'jest-environment-node'];

const HTTP = '\0node:http';
/** Exports that load the undici inside of Node. */
const WITH_UNDICI = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

/**
 * Takes `node:http` without some of its exports: Node evaluates all of them for an `import`, which would take 55 ms and
 * 14 MB for an undici that nothing here uses.
 */
const httpWithoutUndici: Plugin = {
  name: 'http-without-undici',
  enforce: 'pre',
  resolveId: (id, _importer, { kind }) => (id === 'node:http' && kind === 'import-statement' ? HTTP : null),
  load(id) {
    if (id !== HTTP) return null;
    const names = Object.keys(http).filter((name) => !WITH_UNDICI.has(name));
    return `export const { ${names.join(', ')} } = process.getBuiltinModule('node:http');`;
  },
};

/**
 * The engine, the command line and the desktop app as modules in `out/main`, for plain Node and for Electron. Everything is bundled, so that a start reads few
 * files; only the native database stays outside.
 */
export default defineConfig({
  plugins: [asciiOnly, declarations, httpWithoutUndici],
  build: {
    ssr: true,
    target: 'node24',
    outDir: 'out/main',
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    license: { fileName: 'licences.txt' },
    rolldownOptions: {
      // How long plug-ins take is nothing that a first start has to say.
      checks: { bundlerTimings: false },
      input: {
        vivarium: 'main/vivarium.ts',
        desktop: 'main/desktop.ts',
        index: 'main/embed/index.ts',
        thread: 'main/embed/thread.ts',
        vitest: 'main/embed/vitest.ts',
        playwright: 'main/embed/playwright.ts',
        jest: 'main/embed/jest.ts',
      },
      external: [...builtinModules, /^node:(?!http$)/, ...EXTERNAL],
      output: {
        format: 'es',
        // V8 keeps the source as long as a function of it may still be compiled.
        comments: { jsdoc: false, annotation: false },
        // V8 keeps the rest of the source too: 2 MB less for the engine. Names in stack traces stay.
        minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
      },
    },
  },
  ssr: { noExternal: true, external: EXTERNAL },
});
