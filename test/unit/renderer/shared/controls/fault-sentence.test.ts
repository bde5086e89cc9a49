import { expect, it } from 'vitest';
import { faultSentence } from '../../../../../renderer/shared/controls/fault-sentence.ts';

it.each([
  ['is required: a number', 'It is required.'],
  ['must be a URL such as "http://localhost:3000"', 'It must be a URL such as "http://localhost:3000".'],
  [
    'must be an integer from -9 to 9, as a string of decimal digits, or a number within ±(2^53−1)',
    'It must be an integer from -9 to 9.',
  ],
  ['makes a loop: a.test, b.test, a.test', 'It makes a loop: a.test, b.test, a.test.'],
  ['"www" is reserved; choose another one.', '"www" is reserved; choose another one.'],
  ['Entry 3 must be an origin', 'Entry 3 must be an origin'],
])('the fault of a field as a sentence, %s: %s', (message, sentence) => {
  expect(faultSentence(message)).toBe(sentence);
});
