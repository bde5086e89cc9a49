/** The stages that a request passes, in this order (`main/proxy/pipeline.ts`). */
export const STAGE_NAMES = ['listener', 'authority', 'route', 'redirect', 'identify', 'limit', 'target'] as const;

/** The stage that answered a request, or in which it ended. */
export type StageName = (typeof STAGE_NAMES)[number];
