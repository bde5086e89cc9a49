import type { Sealer } from '../../main/base/system/desktop.ts';

/** A fake keyring: seals by reversing the text, and refuses or fails as a test requires. */
export interface FakeSealer extends Sealer {
  /** Why it cannot seal. */
  refuses: string | null;
  /** While locked, it neither seals nor opens. */
  locked: boolean;
  /** Returns something other than what was sealed. */
  forgetful: boolean;
  /** Reports that what it opens should be sealed again. */
  renewed: boolean;
  /** How often it has sealed. */
  sealed: number;
}

const turnAround = (text: string): string => [...text].toReversed().join('');

export function createFakeSealer(): FakeSealer {
  const fake: FakeSealer = {
    refuses: null,
    locked: false,
    forgetful: false,
    renewed: false,
    sealed: 0,
    refusal: () => fake.refuses,
    async seal(text) {
      if (fake.refuses !== null) throw new Error(fake.refuses);
      if (fake.locked) throw new Error('the keyring is locked');
      fake.sealed++;
      return Buffer.from(`sealed:${turnAround(text)}`);
    },
    async open(sealed) {
      if (fake.locked) throw new Error('the keyring is locked');
      const text = Buffer.from(sealed).toString();
      if (!text.startsWith('sealed:')) throw new Error('this was not sealed here');
      return { text: fake.forgetful ? 'something else' : turnAround(text.slice(7)), outdated: fake.renewed };
    },
  };
  return fake;
}
