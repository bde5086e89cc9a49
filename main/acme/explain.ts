import { iso } from '../contract/values.ts';
import type { ClockState } from '../base/clock.ts';
import type { AcmeExplanation, AcmeLeaf, AcmeOrderInfo } from '../contract/acme.ts';
import type { RevocationReason, CaaVerdict } from '../contract/certificates.ts';
import { nameOf } from '../model/acme.ts';
import type { AcmeAccount, AcmeAuthorization, AcmeCertificate, AcmeChallenge, AcmeOrder } from '../model/acme.ts';
import { wireWindow } from './profiles.ts';

type Step = AcmeExplanation['walk'][number];

export const describeOrder = (order: AcmeOrder, isRevoked: boolean): AcmeOrderInfo => ({
  id: order.id,
  status: order.status,
  names: order.identifiers.map(({ value }) => value),
  profile: order.profile,
  accountId: order.accountId,
  createdAt: iso(order.createdAtMs),
  expiresAt: iso(order.expiresAtMs),
  ...(order.serial !== undefined && { certificate: order.serial }),
  ...(isRevoked && { revoked: true }),
  ...(order.error !== undefined && { problem: order.error.detail }),
});

/** An order with the stored rows of its account, authorizations and certificate. */
export interface OrderParts {
  account: AcmeAccount | null;
  authorizations: readonly AcmeAuthorization[];
  certificate: AcmeCertificate | null;
  revocation: { atMs: number; wireAtMs: number; reason: RevocationReason } | null;
  clock: Pick<ClockState, 'offsetMs'>;
}

export function explainOrder(order: AcmeOrder, found: OrderParts): AcmeExplanation {
  const { account, authorizations, certificate } = found;
  const leaf = certificate === null ? null : leafOf(certificate, found);
  return {
    ...describeOrder(order, leaf?.revoked !== undefined),
    message:
      leaf?.revoked === undefined ? messageOf(order, authorizations) : 'The certificate was issued, and revoked.',
    walk: [accountStep(account), ...authorizations.flatMap(stepsOf), certificateStep(order, leaf)],
    ...(leaf !== null && { leaf }),
  };
}

function messageOf({ status, error }: AcmeOrder, authorizations: readonly AcmeAuthorization[]): string {
  switch (status) {
    case 'pending': {
      const open = authorizations.filter((each) => each.status === 'pending').map(nameOf);
      return `The client has yet to prove control of ${open.join(', ')}.`;
    }
    case 'ready':
      return 'All authorizations are valid; the client has yet to send its CSR.';
    case 'processing':
      return 'The certificate is being issued.';
    case 'valid':
      return 'The certificate is issued.';
    case 'invalid':
      return `The order failed. ${error?.detail ?? ''}`.trim();
  }
}

function accountStep(account: AcmeAccount | null): Step {
  if (account === null) return step('account', 'failed', 'The account no longer exists.');
  const contact = account.contact.length === 0 ? 'no contact' : account.contact.join(', ');
  const state = account.status === 'valid' ? 'done' : 'failed';
  return step('account', state, `Account ${account.id}, ${account.status}, with ${contact}.`);
}

function stepsOf(authorization: AcmeAuthorization): Step[] {
  const { challenges, status, expiresAtMs, reusableUntilMs, caa } = authorization;
  const name = nameOf(authorization);
  const isDecided = challenges.some((each) => each.status === 'valid' || each.status === 'invalid');
  const validated = challenges.map((each) => challengeStep(name, each, isDecided));
  const caaStep =
    caa === undefined ? [] : [step(`${name}: CAA`, caaState(caa, challenges), caa.message, { caa: caa.verdict })];
  const until = `until ${iso(expiresAtMs)}`;
  if (status === 'deactivated' || status === 'expired') {
    return [...validated, ...caaStep, step(`${name}: authorization`, 'failed', `The authorization is ${status}.`)];
  }
  if (status !== 'valid') return [...validated, ...caaStep];
  const others = reusableUntilMs === undefined ? '' : `, and by other orders until ${iso(reusableUntilMs)}`;
  return [...validated, ...caaStep, step(`${name}: authorization`, 'done', `It may be used ${until}${others}.`)];
}

/** Orders of earlier versions have no stored verdict; their challenge contains the outcome. */
function caaState({ verdict }: { verdict?: CaaVerdict }, challenges: readonly AcmeChallenge[]): Step['state'] {
  const isRefused =
    verdict === undefined ? challenges.some(({ error }) => error?.type === 'caa') : verdict.verdict !== 'allowed';
  return isRefused ? 'failed' : 'done';
}

function challengeStep(name: string, { type, status, error, attempts }: AcmeChallenge, isDecided: boolean): Step {
  const title = `${name}: ${type}`;
  switch (status) {
    case 'pending':
      return isDecided
        ? step(title, 'unused', 'The client chose another challenge.')
        : step(title, 'waiting', 'The client has not responded to the challenge.');
    case 'processing':
      return step(title, 'waiting', 'The validation is in progress.', { attempts });
    case 'valid':
      return step(title, 'done', 'The client has proved control of the name.', { attempts });
    case 'invalid':
      return error?.type === 'caa'
        ? step(title, 'done', 'The client has proved control of the name, but CAA forbids the certificate.', {
            attempts,
          })
        : step(title, 'failed', error?.detail ?? 'The validation failed.', { attempts });
  }
}

function certificateStep({ serial, status }: AcmeOrder, leaf: AcmeLeaf | null): Step {
  if (serial === undefined) {
    return status === 'invalid'
      ? step('certificate', 'failed', 'No certificate was issued.')
      : step('certificate', 'waiting', 'The certificate has not been issued yet.');
  }
  if (leaf === null) return step('certificate', 'done', `${serial} was issued, and is no longer stored.`);
  const { wireNotBefore, wireNotAfter, renewal, revoked, replacedBy } = leaf;
  const sentences = [
    `${serial} is valid from ${wireNotBefore} to ${wireNotAfter} for clients.`,
    ...(revoked === undefined ? [] : [`It was revoked at ${revoked.at}: ${revoked.reason}.`]),
    replacedBy === undefined
      ? `Clients that use renewal information (ARI) renew it between ${renewal.from} and ${renewal.until}.`
      : `Order ${replacedBy} has replaced it.`,
  ];
  return step('certificate', 'done', sentences.join(' '));
}

function leafOf(certificate: AcmeCertificate, { revocation, clock }: OrderParts): AcmeLeaf {
  const { serial, pem, replacedBy } = certificate;
  const { startMs, endMs } = wireWindow(certificate, clock, revocation?.wireAtMs ?? null);
  return {
    serial,
    notBefore: iso(certificate.notBeforeMs),
    notAfter: iso(certificate.notAfterMs),
    wireNotBefore: iso(certificate.wireNotBeforeMs),
    wireNotAfter: iso(certificate.wireNotAfterMs),
    renewal: { from: iso(startMs), until: iso(endMs) },
    pem,
    ...(revocation !== null && { revoked: { at: iso(revocation.atMs), reason: revocation.reason } }),
    ...(replacedBy !== undefined && { replacedBy }),
  };
}

const step = (
  title: string,
  state: Step['state'],
  message: string,
  { attempts = [], caa }: { attempts?: AcmeChallenge['attempts']; caa?: CaaVerdict | undefined } = {},
): Step => ({
  ...{ step: title, state, message },
  attempts: attempts.map((each) => ({ ...each })),
  ...(caa !== undefined && { caa }),
});

/** Limits for each name's records: an RRset may have 64 kB, and is stored with every authorization. */
const RECORDS_KEPT = 20;
const CHARACTERS_KEPT = 500;

const short = (text: string): string => (text.length > CHARACTERS_KEPT ? `${text.slice(0, CHARACTERS_KEPT)}…` : text);

const few = (records: readonly string[]): string[] => records.slice(0, RECORDS_KEPT).map(short);

/** Shortens a walk with many or long records for storage with an authorization; deciding records come first. */
export function keptVerdict(verdict: CaaVerdict): CaaVerdict {
  const decides = new Set(verdict.decisive);
  const decisiveFirst = (records: readonly string[]): string[] => [
    ...records.filter((record) => decides.has(record)),
    ...records.filter((record) => !decides.has(record)),
  ];
  return {
    ...verdict,
    message: short(verdict.message),
    change: short(verdict.change),
    // An edit with a truncated value would change something else.
    edits: verdict.edits.every(({ value }) => value.length <= CHARACTERS_KEPT)
      ? verdict.edits.slice(0, RECORDS_KEPT)
      : [],
    decisive: few(verdict.decisive),
    trace: verdict.trace.map((step) => ({
      ...step,
      reason: short(step.reason),
      records: few(step.records.length > RECORDS_KEPT ? decisiveFirst(step.records) : step.records),
    })),
    warnings: few(verdict.warnings),
  };
}
