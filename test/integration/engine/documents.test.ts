import { describe, it } from 'vitest';
import { expectPasted, README, type Expected } from '../../support/pasted-documents.ts';

/** Every line starts a program of its own. */
const WALK_TIMEOUT_MS = 240_000;

const README_OUTCOMES: readonly Expected[] = [
  ['vivarium start -d', /^0\n/],
  ['vivarium status', /^0\n[^]*http:\/\/127\.0\.0\.1:\d+/],
  ['vivarium open', /^0\n/],
  ['vivarium logs', /^0\n/],
  ['vivarium keys create', /^0\n[^]*^name +Laptop$[^]*^secret +viv_\w+$/m],
  ['vivarium limits usage', /^0\n/],
  ['vivarium traffic list', /^0\n/],
  ['vivarium clock advance', /^0\n[^]*^offset +PT1M$/m],
  ['vivarium domains attach', /^0\n[^]*^state +verified$/m],
  ['vivarium doctor', /^[01]\n[^]*\bok\b/],
  ['vivarium uninstall --dry-run', /^0\n[^]*(?:share\/vivarium|Vivarium)/],
];

describe('what the documents ask to be pasted', { timeout: WALK_TIMEOUT_MS }, () => {
  it.each(['bash', 'zsh', 'fish'] as const)('works in %s', async (shell) => {
    await expectPasted(shell, [[README, README_OUTCOMES]]);
  });
});
