import { expect, it } from 'vitest';
import { verdictOf } from '../../../main/contract/doctor-words.ts';

it.each([
  [{ failed: 0, warning: 0, ok: 9, skipped: 1 }, 'All is well', '9 in order, 1 not checked'],
  [{ failed: 0, warning: 1, ok: 0, skipped: 0 }, 'One thing needs attention', ''],
  [{ failed: 0, warning: 2, ok: 9, skipped: 0 }, '2 things need attention', '9 in order'],
  [{ failed: 1, warning: 2, ok: 9, skipped: 0 }, 'One check failed', '2 in need of attention, 9 in order'],
  [{ failed: 3, warning: 0, ok: 9, skipped: 0 }, '3 checks failed', '9 in order'],
])('%j: %s; %s', (counts, title, rest) => {
  expect(verdictOf(counts)).toEqual({ title, rest });
});
