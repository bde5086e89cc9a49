import { defineConfig } from 'vite';

/** Builds the preload script as one CommonJS file, because a sandboxed script can neither import nor require files. */
export default defineConfig({
  build: {
    ssr: true,
    target: 'chrome150',
    outDir: 'out/preload',
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      input: { preload: 'preload/preload.ts' },
      external: ['electron'],
      output: { format: 'cjs', entryFileNames: '[name].cjs' },
    },
  },
  ssr: { noExternal: true, external: ['electron'] },
});
