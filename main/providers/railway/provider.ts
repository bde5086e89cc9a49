import { HOUR_MS } from '../../contract/duration.ts';
import { specifiedRateFields } from '../../model/problem.ts';
import type { Provider, Refusal, Reply } from '../provider.ts';
import { environmentIdOf, OPERATIONS, serviceIdOf } from './domains.ts';

/** GraphQL’s form of errors. */
function failure({ status, code, message, more = {} }: Refusal): Reply {
  const error = (own: number, text: string, extensions?: object): Reply => ({
    status: own,
    body: { errors: [{ message: text, ...(extensions && { extensions }) }], data: null },
  });
  switch (code) {
    case 'missing_token':
      return error(200, 'Not Authorized');
    case 'wrong_token':
      return error(200, `Not Authorized. ${message}`);
    case 'not_emulated':
      return error(status, message, { code: 'NOT_IMPLEMENTED', ...more });
    default:
      return error(status, message);
  }
}

/** Railway’s custom domains, by railwayapp/cli and docs.railway.com of August 2026. */
export const RAILWAY: Provider = {
  id: 'railway',
  credentials: ['authorization', 'project-access-token'],
  environment({ projects }, token) {
    const [project] = projects;
    return {
      set: {
        ...{ RAILWAY_TOKEN: token, RAILWAY_API_TOKEN: token, RAILWAY_PROJECT_ID: project?.id ?? '' },
        ...(project !== undefined && {
          RAILWAY_SERVICE_ID: serviceIdOf(project),
          RAILWAY_ENVIRONMENT_ID: environmentIdOf(project),
        }),
      },
      unset: ['RAILWAY_ACCESS_TOKEN', 'RAILWAY_PROJECT_TOKEN', 'RAILWAY_CALLER'],
    };
  },
  operations: OPERATIONS,
  asks: ({ id: projectId }, id) => [{ name: 'customDomain', params: { id, projectId } }],
  // docs.railway.com/integrations/api: of the plan Hobby, which also has ten a second.
  limits: { default: { perMinute: 1_000, perDay: Infinity, minuteMs: HOUR_MS } },
  failure,
  rateFields: (rate) => specifiedRateFields(rate, 0),
  unsettled: [
    'A root field that is not emulated is answered 501 with its name, also one that Railway does not have. Documents have 1,000 tokens at most.',
    'A call without a token: 200 with *Not Authorized* in `errors`, as its command line reads it. An invalid document: 400. `errors` have no `extensions` otherwise.',
    'A project has one service and one environment. An `id` of a custom domain may also be its hostname.',
    'A hostname that another service has: refused, and not available; the words are Vivarium’s, as those of what is not found.',
    'The documentation’s words for statuses (PENDING, VALID, ISSUED …) are not those of the schema, which are answered.',
    '`verified` says that the TXT record is visible, or was when the domain was verified. The certificate needs it and the CNAME, a wildcard’s the delegation as well; its target is Vivarium’s own form.',
    '`certificateStatus` while the records are missing: VALIDATING_OWNERSHIP, with POLLING_AUTHORIZATIONS in detail; while an issuance takes time: ISSUING, FINALIZING_ORDER. Refused by CAA: ISSUE_FAILED, AUTHORIZATION_FAILED with the authority’s words, and retryable, although the next attempt comes by itself.',
    '`customDomainIssueCertificate` checks the domain again, and answers true also if no certificate is issued.',
    'The required value is the project’s own name for all of its domains; an apex has an ALIAS, as where CNAMEs are flattened.',
    '`targetPort` is kept, and leads nowhere. `cnameCheck`, the former form, follows `dnsRecords`. `syncStatus` is always ACTIVE.',
    'The limit is that of one plan, 1,000 an hour; its second limit, ten a second, is not counted. `X-RateLimit-Reset` is in Unix seconds.',
  ],
};
