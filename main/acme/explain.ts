import type { AcmeExplanation, AcmeOrderInfo } from '../contract/acme.ts';
import {
  nameOf,
  type AcmeAccount,
  type AcmeAuthorization,
  type AcmeCertificate,
  type AcmeChallenge,
  type AcmeOrder,
} from '../model/acme.ts';

type Step = AcmeExplanation['walk'][number];

const iso = (epochMs: number): string => new Date(epochMs).toISOString();

export const describeOrder = (order: AcmeOrder): AcmeOrderInfo => ({
  id: order.id,
  status: order.status,
  names: order.identifiers.map(({ value }) => value),
  profile: order.profile,
  accountId: order.accountId,
  createdAt: iso(order.createdAtMs),
  expiresAt: iso(order.expiresAtMs),
  ...(order.serial !== undefined && { certificate: order.serial }),
  ...(order.error !== undefined && { problem: order.error.detail }),
});

/** An order as a walk from its account to its certificate, in sentences. */
export function explainOrder(
  order: AcmeOrder,
  found: {
    account: AcmeAccount | null;
    authorizations: readonly AcmeAuthorization[];
    certificate: AcmeCertificate | null;
    revoked: boolean;
  },
): AcmeExplanation {
  const { account, authorizations } = found;
  return {
    ...describeOrder(order),
    message: messageOf(order, authorizations),
    walk: [accountStep(account), ...authorizations.flatMap(stepsOf), certificateStep(order, found)],
  };
}

function messageOf({ status, error }: AcmeOrder, authorizations: readonly AcmeAuthorization[]): string {
  switch (status) {
    case 'pending': {
      const open = authorizations.filter((each) => each.status === 'pending').map(nameOf);
      return `The client still has to prove control of ${open.join(', ')}.`;
    }
    case 'ready':
      return 'All names are proved; the client still has to send its CSR.';
    case 'processing':
      return 'The certificate is being issued.';
    case 'valid':
      return 'The certificate is issued.';
    case 'invalid':
      return `The order failed. ${error?.detail ?? ''}`.trim();
  }
}

function accountStep(account: AcmeAccount | null): Step {
  if (account === null) return step('account', 'failed', 'The account is not there any longer.');
  const contact = account.contact.length === 0 ? 'no contact' : account.contact.join(', ');
  const state = account.status === 'valid' ? 'done' : 'failed';
  return step('account', state, `Account ${account.id}, ${account.status}, with ${contact}.`);
}

function stepsOf(authorization: AcmeAuthorization): Step[] {
  const { challenges, status, expiresAtMs, caa } = authorization;
  const name = nameOf(authorization);
  const isDecided = challenges.some((each) => each.status === 'valid' || each.status === 'invalid');
  const validated = challenges.map((each) => challengeStep(name, each, isDecided));
  const caaStep = caa === undefined ? [] : [step(`${name}: CAA`, caaState(challenges), caa.message)];
  const until = `until ${iso(expiresAtMs)}`;
  if (status === 'deactivated' || status === 'expired') {
    return [...validated, ...caaStep, step(`${name}: authorization`, 'failed', `The authorization is ${status}.`)];
  }
  if (status !== 'valid') return [...validated, ...caaStep];
  return [...validated, ...caaStep, step(`${name}: authorization`, 'done', `It may be used ${until}.`)];
}

const caaState = (challenges: readonly AcmeChallenge[]): Step['state'] =>
  challenges.some(({ error }) => error?.type === 'caa') ? 'failed' : 'done';

function challengeStep(name: string, { type, status, error, attempts }: AcmeChallenge, isDecided: boolean): Step {
  const title = `${name}: ${type}`;
  switch (status) {
    case 'pending':
      return isDecided
        ? step(title, 'unused', 'The client chose another challenge.')
        : step(title, 'waiting', 'The client has not responded to it.');
    case 'processing':
      return step(title, 'waiting', 'The validation is under way.', attempts);
    case 'valid':
      return step(title, 'done', 'The client has proved control of the name.', attempts);
    case 'invalid':
      return error?.type === 'caa'
        ? step(title, 'done', 'The client has proved control of the name, but CAA forbids the certificate.', attempts)
        : step(title, 'failed', error?.detail ?? 'The validation failed.', attempts);
  }
}

function certificateStep(
  { serial, status }: AcmeOrder,
  { certificate, revoked }: { certificate: AcmeCertificate | null; revoked: boolean },
): Step {
  if (serial === undefined) {
    return status === 'invalid'
      ? step('certificate', 'failed', 'None is issued.')
      : step('certificate', 'waiting', 'It is not issued yet.');
  }
  if (certificate === null) return step('certificate', 'done', `${serial} was issued, and is not kept any longer.`);
  const { wireNotBeforeMs, wireNotAfterMs, replacedBy } = certificate;
  const replaced = replacedBy === undefined ? '' : ` The order ${replacedBy} has replaced it.`;
  const valid = `${serial} is valid from ${iso(wireNotBeforeMs)} to ${iso(wireNotAfterMs)} for clients.`;
  return step('certificate', 'done', `${valid}${revoked ? ' It is revoked.' : ''}${replaced}`);
}

const step = (
  title: string,
  state: Step['state'],
  message: string,
  attempts: AcmeChallenge['attempts'] = [],
): Step => ({
  ...{ step: title, state, message },
  attempts: attempts.map((each) => ({ ...each })),
});
