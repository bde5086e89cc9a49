import type { IconName } from './icons.ts';

/** Meanings of colours: moss is health, amber attention, brick failure, water information. */
export type Tone = 'neutral' | 'moss' | 'amber' | 'brick' | 'water';

/** The result of a station of a walk. */
export interface Look {
  /** `none`: the walk did not reach it. */
  tone: Tone | 'none';
  icon: IconName;
  word: string;
  /** The walk ended here. */
  ends?: boolean;
}
