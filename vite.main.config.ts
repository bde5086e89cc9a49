import { builtinModules } from 'node:module';
import { defineConfig } from 'vite';

/**
 * The engine, the command line and the desktop app as modules in `out/main`, for plain Node and for Electron. Everything is bundled, so that a start reads few
 * files; only the native database stays outside.
 */
export default defineConfig({
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
      input: { vivarium: 'main/vivarium.ts', desktop: 'main/desktop.ts' },
      external: [...builtinModules, /^node:/, 'better-sqlite3', 'electron'],
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  ssr: { noExternal: true, external: ['better-sqlite3', 'electron'] },
});
