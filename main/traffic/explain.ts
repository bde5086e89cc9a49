import type { Entry } from './entry.ts';

/** Which stage answered an exchange, and why, in a sentence. */
export function explain(entry: Entry): string {
  const { stage, status, decision, route, keyId, record } = entry;
  if (status === null) return 'The client left before there was an answer.';
  switch (stage) {
    case 'listener':
      return 'The listener answered: the request is none that this port can carry. The body of the answer says what is wrong.';
    case 'authority':
      return status === 421
        ? 'The authority stage answered: the connection was made for another hostname.'
        : 'The authority stage answered: the request does not say plainly whom it is for.';
    case 'route':
      return `The route stage answered: no project is served at ${entry.authority ?? ''}.`;
    case 'redirect':
      return 'The redirect stage answered: the project sends this hostname on to another.';
    case 'identify':
    case 'limit':
      return 'The limit stage answered.';
    case 'target':
      if (decision !== null && decision.refusal !== null) return `Refused by the limit: ${decision.refusal.message}`;
      if (route?.target.kind === 'upstream') return explainUpstream(entry, route.target.url);
      if (status === 401) {
        return keyId === null
          ? 'The built-in API answered: there was no valid API key of this project. It was counted for the address.'
          : 'The built-in API answered.';
      }
      return record.handedMs === null ? 'Answered before a target was asked.' : 'The built-in API answered.';
  }
}

function explainUpstream({ status, aborted, byProxy }: Entry, url: string): string {
  const { origin } = new URL(url);
  if (status === 101) return `The upstream ${origin} switched to WebSocket; the connection was a tunnel from then on.`;
  if (byProxy) {
    return status === 508
      ? 'The proxy answered: the request goes in circles.'
      : `The proxy answered, because the upstream ${origin} failed; the body says how.`;
  }
  if (aborted) return `The upstream ${origin} answered, and the exchange ended before its answer was whole.`;
  return `The upstream ${origin} answered.`;
}
