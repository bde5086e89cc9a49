/**
 * A vitest environment for view state: plain Node, but compiled as for the browser. In vitest's usual one, Svelte
 * compiles for the server, where runes do not react. Chosen by
 * `// @vitest-environment ./test/support/page-environment.ts`.
 */
export default {
  name: 'page',
  viteEnvironment: 'client',
  setup: () => ({ teardown: () => undefined }),
};
