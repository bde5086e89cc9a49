/** What the composition root takes from here; everything else is for this folder and its tests. */
export { keptBytes, toHar } from './har.ts';
export { matches } from './match.ts';
export { createEntryIds, type EntryIds } from './ids.ts';
export { bytesOf, presentDetail, presentEntry } from './present.ts';
export type { Entry } from './entry.ts';
export { createRecorder, type Recorder } from './recorder.ts';
export { createSeries, STEP_SECONDS, type Series } from './series.ts';
