import { expect, it } from 'vitest';
import type { DoctorCheck } from '../../../../../main/contract/doctor.ts';
import { type ServingFacts, servingState } from '../../../../../renderer/shared/project/serving-state.ts';
import { TARGET_DOWN } from '../../../../../main/contract/break-words.ts';
import { makeBreak } from '../../../../support/page/page-world.ts';

const check = { status: 'warning', evidence: ['Nothing listens at localhost:3000.'] } as unknown as DoctorCheck;
const breaks = [makeBreak('brk_1', { entry: 'api.unavailable', title: '503' })];
const domain = { state: 'misconfigured', serving: { http: true, https: false } } as const;
const domains = [{ state: 'suspended' }] as const;

it.each<[string, ServingFacts, string?]>([
  ['serving', {}],
  ['serving', { breaks: ['drill', 'ca.slow', 'machine.no-ipv6'].map((entry) => makeBreak('brk_1', { entry })) }],
  ['domains suspended', { domains }],
  ['DNS is wrong', { domain, domains }],
  ['broken on purpose', { domain, domains, breaks }, '503'],
  ['no answer', { domain, domains, breaks, check }, 'Nothing listens at localhost:3000.'],
  ['broken on purpose', { check, breaks: [makeBreak('brk_1', { entry: TARGET_DOWN, title: 'Down' })] }, 'Down'],
  ['not served', { domain: { ...domain, serving: { http: false, https: false } }, breaks, check }],
])('an address is %j with %j', (text, facts, why) => {
  expect(servingState(facts)).toMatchObject({ text, ...(why !== undefined && { why }) });
});
