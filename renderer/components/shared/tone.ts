/** What a colour stands for: moss for health, amber for attention, brick for failure, water for information. */
export type Tone = 'neutral' | 'moss' | 'amber' | 'brick' | 'water';
