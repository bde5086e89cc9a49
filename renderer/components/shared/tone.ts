/** Meanings of colours: moss is health, amber attention, brick failure, water information. */
export type Tone = 'neutral' | 'moss' | 'amber' | 'brick' | 'water';
