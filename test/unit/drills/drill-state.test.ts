import { expect, it } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import {
  type DrillText,
  after,
  DRILL_MS,
  type DrillEvent,
  type DrillState,
  STEPS_MAX,
} from '../../../main/drills/drill.ts';

const DRILL: DrillText = {
  ...{ id: 'wet', title: '', subject: 'names', teaches: '', place: 'project', problems: [], story: '', command: '' },
  causes: [
    { id: 'rain', text: 'It rains.', why: 'The sky is blue.' },
    { id: 'hose', text: 'The hose leaks.' },
  ],
  hints: ['Look up.', 'Look down.'],
  ...{ task: '', taskCommand: '', fix: { kind: 'waited' }, explanation: '' },
};

const GROUND = { projectId: 'prj_1', hostname: 'drill.test', keyId: 'key_1', secret: 'viv_1', serial: null };
const START: DrillEvent = { type: 'start', atMs: 1_000, realMs: 5_000 };
const READY: DrillEvent = { type: 'ready', ground: GROUND };
const HINT: DrillEvent = { type: 'hint', atMs: 2_000 };
const answer = (cause?: string): DrillEvent => ({ type: 'answer', atMs: 3_000, cause });
const checked = (missing: string | null): DrillEvent => ({ type: 'checked', atMs: 4_000, missing });
const movedTo = (nowMs: number): DrillEvent => ({ type: 'clock moved back', nowMs });
const END: DrillEvent = { type: 'end' };

const through = (events: readonly DrillEvent[]): DrillState | null =>
  events.reduce<DrillState | null>((state, event) => after(state, event, DRILL), null);

const BEGUN: readonly DrillEvent[] = [START, READY];

it.each<[string, readonly DrillEvent[], Partial<DrillState>]>([
  ['a start', [START], { phase: 'preparing', untilMs: 1_000 + DRILL_MS, ground: null, steps: [] }],
  ['the created objects', BEGUN, { phase: 'running', ground: GROUND }],
  ['hints', [...BEGUN, HINT, HINT], { hints: 2, steps: [{ atMs: 2_000, what: 'Hint 1 of 2' }, expect.anything()] }],
  [
    'a wrong answer, twice',
    [...BEGUN, answer('rain'), answer('1')],
    { wrong: ['rain'], foundAtMs: null, steps: [{ atMs: 3_000, what: 'Wrong: It rains.' }, expect.anything()] },
  ],
  ['a right answer', [...BEGUN, answer('hose')], { foundAtMs: 3_000, wrong: [], missing: null }],
  ['a right answer by number', [...BEGUN, answer('2')], { foundAtMs: 3_000 }],
  ['an answer once it is found', [...BEGUN, answer('2'), answer('rain'), answer()], { foundAtMs: 3_000, wrong: [] }],
  ['an incomplete repair', [...BEGUN, answer('2'), checked('Wet.')], { missing: 'Wet.', phase: 'running' }],
  ['a repair', [...BEGUN, answer('2'), checked('Wet.'), checked(null)], { missing: null, phase: 'ending' }],
  ['an end', [...BEGUN, END], { phase: 'ending' }],
  ['an end before it is finished', [START, END], { phase: 'ending' }],
  ['a repeated end', [...BEGUN, END, END], { phase: 'ending' }],
  ['a clock that goes back', [...BEGUN, movedTo(0)], { untilMs: DRILL_MS }],
  ['a clock that goes back a little', [...BEGUN, movedTo(1_500)], { untilMs: 1_000 + DRILL_MS }],
])('has the expected state after %s', (_what, events, expected) => {
  expect(through(events)).toMatchObject(expected);
});

it.each<[string, readonly DrillEvent[], DrillEvent, string]>([
  ['a second start', BEGUN, START, 'The drill "wet" is already running. End it first'],
  ['a hint without a running drill', [], HINT, 'No drill is running.'],
  ['an answer without a running drill', [], answer('hose'), 'No drill is running.'],
  ['an answer while it is being created', [START], answer('hose'), 'No drill is running.'],
  ['an answer while it is being removed', [...BEGUN, END], answer('hose'), 'No drill is running.'],
  ['a hint beyond the last', [...BEGUN, HINT, HINT], HINT, 'All 2 hints are shown.'],
  ['an unknown cause', BEGUN, answer('hsoe'), 'cause: "hsoe" is not one of rain, hose. Did you mean "hose"?'],
  ['a number beyond the last', BEGUN, answer('3'), 'cause: "3" is not one of rain, hose.'],
  ['a check before the cause is found', BEGUN, answer(), 'cause: is required until the right one is found: rain, hose'],
  ['an end without a running drill', [], END, 'No drill is running.'],
])('refuses %s', (_what, events, event, message) => {
  const state = through(events);
  expect(() => after(state, event, DRILL)).toThrow(VivariumError);
  expect(() => after(state, event, DRILL)).toThrow(message);
});

it('keeps a limited number of steps', () => {
  const many = Array<DrillEvent>(STEPS_MAX + 5).fill({ type: 'step', atMs: 1, what: 'pets.create' });
  expect(through([...BEGUN, ...many])?.steps).toHaveLength(STEPS_MAX);
});
