import type { Log } from '../base/log.ts';
import type { AcmeParts } from './parts.ts';
import { createHandlers, type Handlers } from './handlers.ts';
import { AcmeError, malformed, problemDocument } from './problem.ts';
import { DEFAULT_PROFILE, describeProfiles, findProfile } from './profiles.ts';
import { createSignatures, json, link, NOT_FOUND } from './requests.ts';
import type { AcmeAnswer, AcmeRequest, Signatures } from './requests.ts';
import { ACME_PATH, directoryUrl, termsUrl } from './resources.ts';

/** Problems that normal clients cause: a first request without a nonce, and the check for an existing account. */
const UNLOGGED: ReadonlySet<string> = new Set(['badNonce', 'accountDoesNotExist']);

/** The website of the server, and its terms of service. */
const TERMS = `This is the ACME server of a Vivarium. It runs on one machine, for tests.
Its certificates are valid only where the root of this Vivarium is trusted. That is all there is to agree to.
`;

export type Endpoint = ReturnType<typeof createEndpoint>;

/** The ACME server (RFC 8555). */
export function createEndpoint(parts: AcmeParts) {
  const { rows, origin } = parts;
  const signatures = createSignatures(parts);
  const { views, ...handlers } = createHandlers(parts, signatures);
  const served = { handlers, signatures, directory: (profile: string) => directory(profile, parts) };

  /** Answers a request. Never rejects. */
  async function answer(request: AcmeRequest): Promise<AcmeAnswer> {
    const { method, target } = request;
    const route = routeOf(target, served);
    const index = link(directoryUrl(origin(), DEFAULT_PROFILE), 'index');
    const about = {};
    try {
      if (route === null) throw NOT_FOUND();
      parts.faults.request(request);
      if (!route.methods.includes(method)) {
        throw new AcmeError('malformed', `This URL accepts ${route.methods.join(' or ')} only.`, {
          status: 405,
          headers: ['Allow', route.methods.join(', ')],
        });
      }
      const answer = await route.answer({ ...request, about });
      if (method === 'POST') await rows.stored();
      return withFields(answer, [...(method === 'POST' ? signatures.nonceFields() : []), ...index]);
    } catch (error) {
      if (error instanceof AcmeError && route !== null && !UNLOGGED.has(error.type)) {
        const { type, message: detail } = error;
        parts.refusals.add({ atMs: parts.clock.state().now, type, detail, path: target, ...about });
        parts.onChanged();
      }
      return withFields(refusalOf(error, parts.log), [
        ...(method === 'POST' ? signatures.nonceFields() : []),
        ...index,
      ]);
    }
  }

  return { answer, ...views };
}

interface Served {
  handlers: Omit<Handlers, 'views'>;
  signatures: Signatures;
  directory: (profile: string) => AcmeAnswer;
}

/** Finds the methods and the handler of a path. Null if there is none. */
function routeOf(
  path: string,
  { handlers, signatures: { byAccount, nonceFields }, directory }: Served,
): { methods: readonly string[]; answer: (request: AcmeRequest) => AcmeAnswer | Promise<AcmeAnswer> } | null {
  const [first = '', second = '', third = '', ...more] = (path.split('?', 1)[0] ?? '')
    .slice(ACME_PATH.length)
    .split('/');
  if (more.length > 0) return null;
  const post = (answer: (request: AcmeRequest) => Promise<AcmeAnswer>) => ({ methods: ['POST'], answer });
  const get = (answer: () => AcmeAnswer) => ({ methods: ['GET', 'HEAD'], answer });
  /** RFC 8555 §6.3: the directory and newNonce accept POST-as-GET as well. */
  const either = (read: (method: string) => AcmeAnswer) => ({
    methods: ['GET', 'HEAD', 'POST'],
    async answer(request: AcmeRequest) {
      const payload = request.method === 'POST' ? (await byAccount(request)).payload : '';
      if (payload !== '') throw malformed('The payload of a POST-as-GET must be empty.');
      return read(request.method);
    },
  });
  if (findProfile(first) !== undefined && third === '') {
    if (second === 'directory') return either(() => directory(first));
    if (second === 'new-order') return post((request) => handlers.newOrder(request, first));
    return null;
  }
  if (second === '') {
    switch (first) {
      case '':
      case 'terms':
        return get(() => ({ status: 200, headers: ['Content-Type', 'text/plain; charset=utf-8'], body: TERMS }));
      case 'new-nonce':
        return either((method) => nonceAnswer(method, nonceFields));
      case 'new-account':
        return post(handlers.newAccount);
      case 'revoke':
        return post(handlers.revoke);
      case 'key-change':
        return post(handlers.keyChange);
      default:
        return null;
    }
  }
  switch (first) {
    case 'account':
      return third === '' || third === 'orders' ? post((request) => handlers.accountAt(request, second, third)) : null;
    case 'order':
      return third === '' || third === 'finalize' ? post((request) => handlers.orderAt(request, second, third)) : null;
    case 'authorization':
      return third === '' ? post((request) => handlers.authorizationAt(request, second)) : null;
    case 'challenge':
      return post((request) => handlers.challengeAt(request, second, third));
    case 'certificate':
      return post((request) => handlers.certificateAt(request, second, third));
    case 'renewal-info':
      return third === '' ? get(() => handlers.renewalInfo(second)) : null;
    default:
      return null;
  }
}

/** Every answer to a POST has a nonce anyway. */
const nonceAnswer = (method: string, nonceFields: Signatures['nonceFields']): AcmeAnswer => ({
  status: method === 'GET' ? 204 : 200,
  headers: method === 'POST' ? [] : nonceFields(),
  body: null,
});

function directory(profile: string, { origin, faults, caaDomain, externalAccountRequired }: AcmeParts): AcmeAnswer {
  const at = (path: string): string => origin() + ACME_PATH + path;
  return json(200, {
    newNonce: at('new-nonce'),
    newAccount: at('new-account'),
    newOrder: at(`${profile}/new-order`),
    revokeCert: at('revoke'),
    keyChange: at('key-change'),
    renewalInfo: at('renewal-info'),
    meta: faults.directory({
      termsOfService: termsUrl(origin()),
      website: at(''),
      caaIdentities: [caaDomain()],
      profiles: describeProfiles(),
      ...(externalAccountRequired() && { externalAccountRequired: true }),
    }),
  });
}

const withFields = (answer: AcmeAnswer, fields: readonly string[]): AcmeAnswer => ({
  ...answer,
  headers: [...answer.headers, ...fields],
});

function refusalOf(error: unknown, log: Pick<Log, 'error'>): AcmeAnswer {
  let problem: AcmeError;
  if (error instanceof AcmeError) problem = error;
  else {
    log.error('An ACME request failed', { error });
    problem = new AcmeError('serverInternal', 'The request failed; the log contains the reason.');
  }
  return {
    status: problem.status,
    headers: ['Content-Type', 'application/problem+json', ...problem.headers],
    body: JSON.stringify({ ...problemDocument(problem), ...problem.members }),
  };
}
