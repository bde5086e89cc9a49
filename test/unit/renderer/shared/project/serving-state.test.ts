import { expect, it } from 'vitest';
import type { DoctorCheck } from '../../../../../main/contract/doctor.ts';
import { type ServingFacts, servingState } from '../../../../../renderer/shared/project/serving-state.ts';
import { makeBreak } from '../../../../support/page/page-world.ts';

const down = { status: 'warning', evidence: ['Nothing listens at localhost:3000.'] } as unknown as DoctorCheck;
const breaks = [makeBreak('brk_1', { entry: 'api.unavailable', title: '503' })];

it.each<[string, ServingFacts, string?]>([
  ['serving', {}],
  ['serving', { breaks: ['drill', 'ca.slow', 'machine.no-ipv6'].map((entry) => makeBreak('brk_1', { entry })) }],
  ['no answer', { check: down }, 'Nothing listens at localhost:3000.'],
  ['DNS is wrong', { check: down, misconfigured: true }],
  ['broken on purpose', { check: down, misconfigured: true, breaks }, '503'],
  ['domains suspended', { suspended: true, breaks }],
  ['not served', { served: false, suspended: true }],
])('an address is %j with %j', (text, facts, why) => {
  expect(servingState(facts)).toMatchObject({ text, ...(why !== undefined && { why }) });
});
