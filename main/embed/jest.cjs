/**
 * For Jest, which runs CommonJS in a context of its own: the program is loaded outside it, once for all files of a
 * worker, by Node's own `require`.
 */
const { createRequire } = process.getBuiltinModule('node:module');
const { startVivarium } = createRequire(__filename)('../../out/main/index.js');

/** Starts a Vivarium before the tests of a file or a `describe`, and stops it after them; returns what gets it. */
function useVivarium(options) {
  let vivarium;
  beforeAll(async () => {
    vivarium = await startVivarium(options);
  });
  afterAll(() => vivarium?.close());
  return () => vivarium;
}

module.exports = { startVivarium, useVivarium };
