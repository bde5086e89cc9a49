import http from 'node:http';
import { builtinModules } from 'node:module';
import { defineConfig, type Plugin } from 'vite';
import { makeDeclarations } from './main/embed/declarations.ts';

/** V8 stores a source with any character beyond Latin-1 in two bytes per character: 2 MB more for the engine. */
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

/** Emits the TypeScript declarations of the package. */
const declarations: Plugin = {
  name: 'declarations',
  generateBundle() {
    for (const [fileName, source] of Object.entries(makeDeclarations())) {
      this.emitFile({ type: 'asset', fileName, source });
    }
  },
};

/** Not bundled: native code, and the test runners of the project that imports the fixtures. */
const EXTERNAL = ['better-sqlite3', 'electron', 'vitest', '@playwright/test', 'jest-environment-node'];

const HTTP = '\0node:http';
/** Exports of `node:http` that load Node's built-in undici. */
const WITH_UNDICI = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

/**
 * Replaces `import`s of `node:http` with a module that lacks some of its exports: Node evaluates all exports for an
 * `import`, which would cost 55 ms and 14 MB for an undici that is not used here.
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
 * Builds the engine, the command line and the desktop app as modules in `out/main`, for plain Node and for Electron.
 * Everything except the native database is bundled, so that a start reads few files.
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
      // A user's first start builds the program, and should not print plug-in timings.
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
        // V8 keeps the source as long as any of its functions may still be compiled.
        comments: { jsdoc: false, annotation: false },
        // V8 keeps the whole source: minifying saves the engine 2 MB. Names in stack traces are kept.
        minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
      },
    },
  },
  ssr: { noExternal: true, external: EXTERNAL },
});
