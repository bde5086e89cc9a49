import { defineConfig } from 'vite';

/** The preload script as one CommonJS file in `out/preload`: a sandboxed one can neither import nor require files. */
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
