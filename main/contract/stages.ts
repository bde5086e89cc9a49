/** The stages of a request, in this order (`main/proxy/pipeline.ts`). */
export const STAGE_NAMES = [
  'listener',
  'authority',
  'route',
  'redirect',
  'identify',
  'limit',
  'break',
  'target',
] as const;

/** The stage that answered a request or ended it. */
export type StageName = (typeof STAGE_NAMES)[number];
