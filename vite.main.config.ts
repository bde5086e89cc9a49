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

/**
 * The engine, the command line and the desktop app as modules in `out/main`, for plain Node and for Electron. Everything is bundled, so that a start reads few
 * files; only the native database stays outside.
 */
export default defineConfig({
  plugins: [asciiOnly, declarations],
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
      external: [...builtinModules, /^node:/, ...EXTERNAL],
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  ssr: { noExternal: true, external: EXTERNAL },
});
