import { describe, it } from 'vitest';
import { expectPasted, README, type Expected } from '../../support/pasted-documents.ts';

/** Every line starts a program of its own. */
const WALK_TIMEOUT_MS = 240_000;

const README_OUTCOMES: readonly Expected[] = [
  ['vivarium status get', /^0\n[^]*^version +\d/m],
  ['vivarium projects list', /^0\n[^]*\bdemo\b[^]*\bhappy-paws\b/],
  ['vivarium traffic list', /^0\n/],
  ['vivarium clock advance', /^0\n[^]*^offset +PT1M$/m],
  ['vivarium clock reset', /^0\n[^]*^offset +PT0S$/m],
  ['vivarium domains list', /^0\n[^]*www\.happypaws\.test[^]*issued/],
  ['vivarium caa explain', /^[01]\n[^]*^verdict +forbidden$/m],
  ['vivarium reach open', /^0\n[^]*^url +https:\/\/www\.happypaws\.test\//m],
  ['vivarium doctor', /^[01]\n[^]*\bok\b/],
  ['vivarium help', /^0\n[^]*^Usage$/m],
];

describe('what the documents ask to be pasted', { timeout: WALK_TIMEOUT_MS }, () => {
  it.each(['bash', 'zsh', 'fish'] as const)('works in %s', async (shell) => {
    await expectPasted(shell, [[README, README_OUTCOMES]]);
  });
});
