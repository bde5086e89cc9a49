import { ORPCError } from '@orpc/client';
import { expect, it } from 'vitest';
import { describeFailure, issuesOf } from '../../../../renderer/connection/failure.ts';

it.each([
  [
    'Change the project’s plan to Pro: `projects.update {"projectId":"demo","plan":"pro"}`.',
    'Change the project’s plan to Pro.',
  ],
  [
    'shop.acme.test is not possible. Deploy the project, then attach the domain: `deploys.create {"projectId":"demo"}`.',
    'shop.acme.test is not possible. Deploy the project, then attach the domain.',
  ],
  ['There is no domain "shop.acme.test". List them: `domains.list`.', 'There is no domain “shop.acme.test”.'],
  ['Add www CAA 0 issue "ca.test", or write "@".', 'Add www CAA 0 issue "ca.test", or write “@”.'],
  ['Add this record: acme.test. CAA 0 issue ";"', 'Add this record: acme.test CAA 0 issue ";"'],
  ['It must be {"a": 1, "b": 2}.', 'It must be {"a": 1, "b": 2}.'],
  ['Put it back: add it with `ca.trust`, and restart.', 'Put it back: add it with ca.trust, and restart.'],
])('the page’s message for a failure %s', (message, shown) => {
  const error = new ORPCError('conflict', { message, data: { issues: [{ path: 'hostname', message }] } });
  expect(describeFailure(error)).toBe(shown);
  expect(issuesOf(error)).toEqual([{ path: 'hostname', message: shown }]);
});
