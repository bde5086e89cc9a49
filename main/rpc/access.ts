import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DAY_MS } from '../contract/duration.ts';

/** Longer than a tab is usually open; after that, a session found on a disk is worthless. */
const SESSION_MS_MAX = 7 * DAY_MS;

/** `s.<end of its life>.<signature>`; the token itself has no full stop. */
const SESSION = /^s\.([0-9a-z]{1,12})\.([\w-]{43})$/;

/**
 * The credentials of callers: the token, for scripts; and sessions, for browsers, which store a page's data on disk. A
 * session is signed with the token: it outlives a restart and ends with the token.
 * @param realNow real time in milliseconds since the epoch
 */
export function createAccess(token: string, realNow: () => number) {
  let current = checked(token);
  const sign = (end: string): string => createHmac('sha256', current).update(`session ${end}`).digest('base64url');
  return {
    /** Whether it is the token or a session that has not expired. */
    accepts(candidate: string): boolean {
      const [, end, signature] = SESSION.exec(candidate) ?? [];
      if (end === undefined || signature === undefined) return isEqual(candidate, current);
      return isEqual(signature, sign(end)) && Number.parseInt(end, 36) > realNow();
    },
    /** A new session. */
    session(): string {
      const end = (realNow() + SESSION_MS_MAX).toString(36);
      return `s.${end}.${sign(end)}`;
    },
    /** Replaces the token, which ends all sessions. */
    replace(next: string): void {
      current = checked(next);
    },
  };
}

export type Access = ReturnType<typeof createAccess>;

function checked(token: string): string {
  if (token === '') throw new RangeError('The control port needs a token that is not empty.');
  return token;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** In constant time. */
const isEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
