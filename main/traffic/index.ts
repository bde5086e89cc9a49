/** What the composition root takes from here; everything else is for this folder and its tests. */
export { toHar } from './har.ts';
export { matches } from './match.ts';
export { bytesOf, idOf, numberOf, presentDetail, presentEntry } from './present.ts';
export { createRecorder, type Entry, type Recorder } from './recorder.ts';
