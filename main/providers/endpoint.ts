import type { EpochMs } from '../base/clock.ts';
import { PLATFORM_ZONE } from '../base/config.ts';
import { bodyOf, sendAnswer } from '../base/http/answer.ts';
import { hasBody, type HttpExchange, type HttpRequest, isHttp2 } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { ERROR_CATALOGUE, internalError, VivariumError } from '../contract/errors.ts';
import { summarizeIssues, toInputIssues } from '../contract/issues.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderId } from '../contract/provider-table.ts';
import { type Problem, specifiedRateFields } from '../model/problem.ts';
import type { Caller, Decision, RateLimits } from '../model/rate-decision.ts';
import { type ProviderCaller, type ProviderDestination, providerRoute } from '../model/route.ts';
import type { ProviderConnection, ProviderConnections } from './connections.ts';
import { dropCredentials, hasMarked, readCredentials } from './credentials.ts';
import { withRules } from './domains.ts';
import { EMULATED } from './emulated.ts';
import { createOperations, type FindOperation, Refused } from './operations.ts';
import type { Account, World } from './facts.ts';
import type { Call, Operation, Provider, Question, Refusal, Reply } from './provider.ts';

const BODY_BYTES_MAX = 1024 * 1024;

const FAILED = internalError(ERROR_CATALOGUE.internal_error.title);

interface EndpointOptions {
  connections: Pick<ProviderConnections, 'of' | 'get'>;
  limiter: { take(caller: Caller, limits: RateLimits): Decision };
  /** The account of a connection; null when none of its projects exists. */
  accountOf: (connection: ProviderConnection) => Account | null;
  world: (provider: ProviderId) => World;
  /** The real time, in which rate headers are, and by how much the app's clock is ahead of it. */
  times: () => { realNow: EpochMs; offsetMs: number };
  /** Lets nothing of a request's body be recorded. */
  forgetRequest: (request: HttpRequest) => void;
  /** A command as it is typed for this engine. */
  command: (text: string) => string;
  log: Log;
}

/** Answers the calls of all providers' APIs. */
export function createProviderEndpoint(options: EndpointOptions) {
  const { connections, limiter, accountOf, log } = options;
  const rows = PROVIDER_IDS.map((id) => [id, createOperations(EMULATED[id])] as const);
  const finders = Object.fromEntries(rows) as Record<ProviderId, FindOperation>;
  const find = (id: ProviderId, { method = '', url = '' }: HttpRequest) =>
    finders[id](method, url.split(/[?#]/, 1)[0] ?? '');
  const hosts = [...PROVIDER_IDS.flatMap((id) => PROVIDERS[id].hosts), `api.${PLATFORM_ZONE}`];
  const names = new RegExp(
    String.raw`(?:^|[\s/@.])(?:${hosts.map((host) => host.replaceAll('.', String.raw`\.`)).join('|')})\.*(?:[\s:/?#]|$)`,
    'i',
  );
  /** The answer, also if it is a refusal. A question has no request. */
  async function answer(
    provider: Provider,
    operation: Operation,
    call: Omit<Call, 'world'>,
    request: HttpRequest | null,
  ): Promise<Reply> {
    const { name, input } = operation;
    try {
      const body = input === undefined || request === null ? undefined : await readBody(input, request);
      return await operation.handle({ ...call, world: withRules(options.world(provider.id)) }, body);
    } catch (error) {
      if (error instanceof Refused) return failureOf(provider, error.refusal);
      if (!(error instanceof VivariumError))
        log.error('An operation of a provider’s API failed', { operation: name, error });
      const { status, code, message } = error instanceof VivariumError ? error : FAILED;
      return failureOf(provider, { status, code, message });
    }
  }

  async function readBody(schema: NonNullable<Operation['input']>, request: HttpRequest): Promise<unknown> {
    const text = await readText(request);
    if (hasMarked(text)) options.forgetRequest(request);
    return readInput(schema, text);
  }

  function send(exchange: HttpExchange, provider: Provider, decision: Decision | null, { status, body }: Reply): void {
    const isText = typeof body === 'string';
    const content = bodyOf(isText ? body : JSON.stringify(body));
    const { realNow, offsetMs } = options.times();
    const inReal = decision && { ...decision.rate, resetAtMs: decision.rate.resetAtMs - offsetMs };
    const rate = inReal && (provider.rateFields?.(inReal, realNow) ?? specifiedRateFields(inReal, 0));
    const wait = decision?.refusal ? ['Retry-After', String(decision.refusal.retryAfterSeconds)] : [];
    const type = `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`;
    const fields = ['Content-Type', type, 'Content-Length', content.length];
    const headers = [...fields, ...(rate ?? []), ...wait];
    const bounds = isHttp2(exchange.request) ? null : { bytesMax: BODY_BYTES_MAX, timer: null };
    sendAnswer(exchange, { status, body: content, headers, close: false }, bounds);
  }

  return {
    isNamedIn: (text: string): boolean => names.test(text),
    guard: dropCredentials,
    identify(request: HttpRequest, { provider }: ProviderDestination): ProviderCaller {
      const credentials = readCredentials(request.rawHeaders, EMULATED[provider].credentials);
      if (credentials.kind !== 'token') return refusedCaller(`${credentials.kind}_token`);
      const connection = connections.of(credentials.token);
      const account = connection?.provider === provider ? accountOf(connection) : null;
      if (connection === null || account === null) return refusedCaller('unknown_token');
      const [first] = account.projects;
      const route = { ...providerRoute('', provider), projectId: first.id, slug: first.slug };
      const isEmulated = find(provider, request).kind === 'operation';
      return { route, keyId: connection.id, isEmulated, refused: null };
    },
    decide({ route, keyId }: ProviderCaller, request: HttpRequest): Decision | null {
      if (route?.target.kind !== 'provider' || keyId === null) return null;
      const provider = EMULATED[route.target.provider];
      const found = find(provider.id, request);
      const row = (found.kind === 'operation' ? found.operation.limit : null) ?? 'default';
      const limits = provider.limits[row] ?? provider.limits.default;
      return limiter.take({ kind: 'provider', connectionId: keyId, limit: row, projectId: route.projectId }, limits);
    },
    handle(exchange: HttpExchange, caller: ProviderCaller, decision: Decision | null, id: ProviderId): void {
      const { request } = exchange;
      const provider = EMULATED[id];
      const reply = (answered: Reply): void => {
        // Only now is it known what was asked: secrets may be in it, as in what is not emulated by its path.
        if (answered.status === 501 || answered.isUnread === true) options.forgetRequest(request);
        send(exchange, provider, decision, answered);
      };
      const fail = (refusal: Refusal): void => reply(failureOf(provider, refusal));
      if (caller.refused !== null) return fail(REFUSALS[caller.refused](id, options.command));
      const connection = caller.keyId === null ? null : connections.get(caller.keyId);
      const account = connection === null ? null : accountOf(connection);
      if (account === null) return fail(REFUSALS.unknown_token(id, options.command));
      if (decision !== null && decision.refusal !== null) return fail(tooMany(decision));
      const found = find(id, request);
      if (found.kind === 'other') return fail(notEmulated(provider, found.name));
      const { operation, params } = found;
      const query = new URLSearchParams(/\?([^#]*)/.exec(request.url ?? '')?.[1] ?? '');
      answer(provider, operation, { params, query, account }, request)
        .then(reply)
        .catch((error: unknown) => log.error('A provider’s answer could not be sent', { error }));
    },
    /** What a call would be answered with now; it is not counted, and no token is needed. */
    async ask(id: ProviderId, account: Account, { name, params, query = {} }: Question) {
      const provider = EMULATED[id];
      const operation = provider.operations.find((each) => each.name === name);
      if (operation === undefined) throw new Error(`There is no operation ${name}.`);
      const search = new URLSearchParams(query);
      const call = { params, query: search, account, isQuestion: true } as const;
      const { status, body } = await answer(provider, operation, call, null);
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, each: string) => params[each] ?? '');
      return { call: `${operation.method} ${path}${search.size === 0 ? '' : `?${search.toString()}`}`, status, body };
    },
    refuse(exchange: HttpExchange, { status, code, message }: Problem, id: ProviderId): void {
      send(exchange, EMULATED[id], null, failureOf(EMULATED[id], { status, code, message }));
    },
  };
}

/** The refusals of a call without a valid token. */
const REFUSALS: Record<
  NonNullable<ProviderCaller['refused']>,
  (id: ProviderId, command: EndpointOptions['command']) => Refusal
> = {
  missing_token: () => ({ status: 403, code: 'missing_token', message: 'The request has no token.' }),
  foreign_token: (id, command) => ({
    status: 403,
    code: 'wrong_token',
    message:
      `This is Vivarium, which simulates ${PROVIDERS[id].title}: it takes its own tokens only, and has dropped this one unread. ` +
      `Get one with: ${command(`vivarium provider env ${id}`)}`,
  }),
  unknown_token: () => ({
    status: 403,
    code: 'wrong_token',
    message: 'The token is of no connection to this API: it was closed, or its projects were removed.',
  }),
};

function refusedCaller(refused: NonNullable<ProviderCaller['refused']>): ProviderCaller {
  return { route: null, keyId: null, isEmulated: false, refused };
}

/** A refusal in the provider's words and form. */
function failureOf({ refusals, failure }: Provider, refusal: Refusal): Reply {
  const { message: said } = refusal;
  const own = refusals[refusal.code] ?? {};
  return failure({ ...refusal, ...own, message: own.message?.replace('…', () => said) ?? said }, said);
}

const tooMany = ({ rate, refusal }: Decision): Refusal => ({
  status: 429,
  code: 'rate_limited',
  message: refusal?.message ?? '',
  more: { limit: rate.limit, remaining: rate.remaining, resetAtMs: rate.resetAtMs },
});

function notEmulated({ id, operations }: Provider, name: string): Refusal {
  const emulated = operations.filter(({ missing }) => missing === undefined).map((each) => each.name);
  const message = `Vivarium does not emulate ${name} of ${PROVIDERS[id].title}’s API. Emulated: ${emulated.join(', ')}.`;
  return { status: 501, code: 'not_emulated', message, more: { operation: name, emulated } };
}

/** Checks a JSON body; an absent one is an empty object. */
function readInput(schema: NonNullable<Operation['input']>, text: string): unknown {
  let value: unknown = {};
  try {
    if (text !== '') value = JSON.parse(text);
  } catch {
    throw new Refused({ status: 400, code: 'invalid_request', message: 'The body is not JSON.' });
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const message = summarizeIssues(toInputIssues(read.error.issues, value));
  throw new Refused({ status: 400, code: 'invalid_request', message });
}

function readText(request: HttpRequest): Promise<string> {
  if (!hasBody(request)) return Promise.resolve('');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) return void chunks.push(chunk);
    // What still arrives is drained with the answer.
    request.off('data', onData);
    reject(new Refused({ status: 413, code: 'payload_too_large', message: 'The body has more than 1 MiB.' }));
  };
  request.on('data', onData);
  request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  // The client is gone, and nobody reads the answer.
  request.once('close', () => resolve(''));
  return promise;
}
