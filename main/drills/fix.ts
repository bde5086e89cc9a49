import type { EpochMs } from '../base/clock.ts';
import type { Certificate } from '../contract/certificates.ts';
import type { Domain } from '../contract/domains.ts';
import type { DrillFix, PracticeGround } from './drill.ts';

export interface SeenRequest {
  atMs: EpochMs;
  realAtMs: EpochMs;
  /** The API key, or the client's address. */
  caller: string;
  keyId: string | null;
  method: string;
  isHttp2: boolean;
  status: number | null;
  /** The header as it was sent. */
  retryAfter: string | null;
  durationMs: number;
  isAborted: boolean;
  /** Whether the hidden break hit the request. */
  isHit: boolean;
}

/** The state of the practice project, for checking a fix. */
export interface FixFacts {
  ground: PracticeGround;
  /** Whether the practice project still exists. */
  isThere: boolean;
  foundAtMs: EpochMs;
  /** Finished requests, oldest first. */
  requests: readonly SeenRequest[];
  /** The domain after a fresh verification; null if it is not attached or not needed. */
  domain: Domain | null;
  certificate: Pick<Certificate, 'serial'> | null;
}

/** A sentence that says what the fix still lacks; null if it is complete. */
export function missingFor(fix: DrillFix, facts: FixFacts): string | null {
  if (!facts.isThere) return 'The practice project was removed. Stop the drill and start it again.';
  const { requests, ground } = facts;
  switch (fix.kind) {
    case 'waited':
      return missingWait(requests);
    case 'gave up': {
      const seconds = fix.withinMs / 1_000;
      const isGivenUp = requests.some(
        // Earlier requests were aborted by the user.
        ({ atMs, isHit, isAborted, durationMs }) =>
          atMs >= facts.foundAtMs && isHit && isAborted && durationMs <= fix.withinMs,
      );
      return isGivenUp ? null : `No client has given up within ${seconds} s since the cause was found.`;
    }
    case 'checked first':
      return missingCheck(requests);
    case 'over HTTP/2':
      return requests.some(({ isHttp2, status }) => isHttp2 && isFine(status))
        ? null
        : 'No request has been answered with 200 over HTTP/2 yet.';
    case 'answered': {
      const last = requests.at(-1);
      if (last === undefined) return 'There has been no request yet.';
      if (!isFine(last.status)) return `The last request was answered with ${last.status ?? 'nothing'}.`;
      if (fix.withNewKey === true && (last.keyId === null || last.keyId === ground.keyId))
        return 'The last request did not use a new API key.';
      return null;
    }
    case 'serves':
      return missingService(fix, facts);
  }
}

const isFine = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** Pairs each request with the next one of the same caller. */
function* pairs(requests: readonly SeenRequest[]): Generator<[SeenRequest, SeenRequest | undefined]> {
  for (const [index, request] of requests.entries()) {
    yield [request, requests.slice(index + 1).find(({ caller }) => caller === request.caller)];
  }
}

function missingWait(requests: readonly SeenRequest[]): string | null {
  let missing = 'No request has been refused yet.';
  for (const [refused, next] of pairs(requests)) {
    if (refused.status !== 429 || refused.retryAfter === null) continue;
    const wait = `Retry-After: ${refused.retryAfter}`;
    if (next === undefined) missing = `The last request was refused (${wait}), and none came after it.`;
    else if (isTooEarly(refused, next)) missing = `After a refusal (${wait}), the next request came too early.`;
    else if (isFine(next.status)) return null;
  }
  return missing;
}

/** RFC 9110 §10.2.3: seconds, or a date, which is real time. */
function isTooEarly({ retryAfter, atMs }: SeenRequest, next: SeenRequest): boolean {
  const text = retryAfter ?? '';
  return /^\d+$/.test(text) ? next.atMs < atMs + Number(text) * 1_000 : next.realAtMs < Date.parse(text);
}

function missingCheck(requests: readonly SeenRequest[]): string | null {
  let missing = 'No request has failed with 500 yet.';
  for (const [failed, next] of pairs(requests)) {
    if (!failed.isHit || failed.method !== 'POST') continue;
    if (next === undefined) missing = 'The client has not checked the list since the last 500.';
    else if (next.method === 'GET' && isFine(next.status)) return null;
    else missing = `After a 500, the next request was ${next.method}.`;
  }
  return missing;
}

function missingService(
  { hostname, renewed }: Extract<DrillFix, { kind: 'serves' }>,
  { domain, certificate, ground }: FixFacts,
): string | null {
  if (domain === null || domain.projectId !== ground.projectId)
    return `${hostname} is not attached to the practice project.`;
  const wrong = domain.checks.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  if (domain.state !== 'verified' || wrong !== undefined)
    return wrong === undefined ? `${hostname} is ${domain.state}.` : wrong.message;
  if (domain.certificate.state !== 'issued') return `The certificate of ${hostname} is ${domain.certificate.state}.`;
  if (renewed === true && certificate?.serial === ground.serial)
    return `${hostname} still has its old certificate. Renew it.`;
  return null;
}
