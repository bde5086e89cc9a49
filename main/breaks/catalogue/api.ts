import type { BreakEntry, BreakParameter } from '../../contract/breaks.ts';
import { entryOf, everywhere, OF_REQUEST } from './entry.ts';

const entry = entryOf('api', OF_REQUEST);

const seconds = (description: string, value: number, min = 0): BreakParameter => ({
  name: 'seconds',
  description,
  default: value,
  min,
  max: 315_360_000,
});

/** Faults in what the API says. */
export const API_ENTRIES: readonly BreakEntry[] = [
  entry('retry-after-missing', {
    title: '429 without Retry-After',
    cause: 'A limit refuses without saying how long. X-RateLimit-Reset says so if it is present.',
    symptoms: everywhere('429'),
    remedy: 'Wait until X-RateLimit-Reset; without it, back off exponentially with jitter.',
  }),
  entry('retry-after-http-date', {
    title: 'Retry-After with a date',
    cause: 'RFC 9110 §10.2.3 permits a date in place of seconds; many clients only read numbers.',
    symptoms: everywhere('429, Retry-After: a date'),
    remedy: 'Read both forms, and compare a date with the answer’s Date rather than with the own clock.',
    parameters: [seconds('seconds from now to the date', 30)],
  }),
  entry('retry-after-past', {
    title: 'Retry-After in the past',
    cause: 'The date has passed: the server’s clock is slow, or a cache answers.',
    symptoms: everywhere('429, Retry-After: a date'),
    remedy: 'Wait at least a second: a negative wait leads to immediate retries, again and again.',
    parameters: [seconds('seconds since the date', 3_600)],
  }),
  entry('retry-after-huge', {
    title: 'Retry-After for years',
    cause: 'Milliseconds were mistaken for seconds, or the limit applies to a month.',
    symptoms: everywhere('429, Retry-After: 31536000'),
    remedy:
      'Set a maximum wait and give up with an error above it. In JavaScript, a timer of more than 2^31−1 ms fires at once.',
    parameters: [seconds('seconds to wait', 31_536_000)],
  }),
  entry('retry-after-fractional', {
    title: 'Retry-After with a fraction',
    cause: 'The field must be a whole number, but some servers send an unrounded result.',
    symptoms: everywhere('429, Retry-After: 1.5'),
    remedy: 'Round up. Parsing it as an integer may fail, or give 1 for 1.9.',
    parameters: [{ name: 'value', description: 'what the field says', default: '1.5' }],
  }),
  entry('retry-after-garbage', {
    title: 'Retry-After that is not a time',
    cause: 'A proxy or an error page puts a word into the field.',
    symptoms: everywhere('429, Retry-After: soon'),
    remedy: 'Treat it as missing. Waiting for NaN means an immediate retry.',
    parameters: [{ name: 'value', description: 'what the field says', default: 'soon' }],
  }),
  entry('retry-after-disagrees', {
    title: 'Retry-After disagrees with the rate headers',
    cause: 'Two limits apply, or two programs write headers: one says a second, the other an hour.',
    symptoms: everywhere('429, Retry-After: 1'),
    remedy: 'Wait for the longer time.',
    parameters: [
      seconds('what Retry-After says', 1),
      { name: 'resetSeconds', description: 'seconds to X-RateLimit-Reset', default: 3_600, min: 0, max: 31_536_000 },
    ],
  }),
  entry('unavailable', {
    title: '503 with Retry-After',
    cause: 'The service is under maintenance or overloaded.',
    symptoms: everywhere('503, Retry-After: 30'),
    remedy: 'Wait as long as Retry-After says, then retry if the request may be repeated.',
    parameters: [seconds('what Retry-After says', 30)],
  }),
  entry('error-after-commit', {
    title: '500 after the commit',
    cause: 'The request was carried out, but its answer failed: something broke after the database commit.',
    symptoms: everywhere('500'),
    remedy:
      'Don’t repeat requests that are not idempotent: check first whether it was done, or send an idempotency key.',
  }),
  entry('key-revoked', {
    title: 'API key revoked during use',
    cause: 'The key is revoked while a client uses it: from one request to the next, the answer is 401.',
    symptoms: everywhere('401'),
    remedy: 'Stop, and report which key is invalid: retrying after a 401 does not help.',
  }),
  entry('banned', {
    title: 'API key banned',
    cause: 'A client that kept sending after refusals is banned for a while, whatever its limits.',
    symptoms: everywhere('429, Retry-After: 600'),
    remedy: 'Wait as long as Retry-After says, and find out why the client ignored the refusals.',
    parameters: [seconds('what Retry-After says', 600)],
  }),
  entry('sunset', {
    title: 'Sunset reached',
    cause: 'The Sunset date of the operation (RFC 8594) has passed, so it answers 410.',
    symptoms: everywhere('410'),
    remedy: 'Move to the successor, and watch for Deprecation and Sunset before the date.',
    parameters: [{ name: 'daysAgo', description: 'days since the sunset', default: 1, min: 0, max: 3_650 }],
  }),
  entry('cursor-repeats', {
    title: 'A page repeats an element',
    cause: 'The cursor of the next page points one element back, as when rows are inserted between two requests.',
    symptoms: everywhere('200'),
    remedy: 'Recognise elements by id. The break needs an answer with two elements and a Link to the next page.',
  }),
  entry('int64-rounded', {
    title: 'int64 that lost precision',
    cause: 'A program in between parsed integers beyond 2^53 as doubles and serialised them again.',
    symptoms: everywhere('200, another categoryId'),
    remedy: 'Carry such ids as text, or parse them as 64-bit integers everywhere. Smaller numbers are not changed.',
  }),
  entry('date-skewed', {
    title: 'Date skewed',
    cause: 'The server’s clock is wrong, and so are Date and everything computed from it.',
    symptoms: everywhere('200'),
    remedy: 'Only compare times from the same clock; tokens that are valid from “now” fail first.',
    parameters: [{ ...seconds('seconds that Date is ahead; negative for behind', 3_600), min: -315_360_000 }],
  }),
  entry('staging-down', {
    title: 'Staging is down, production is up',
    cause: 'Staging is turned off at night. A client that uses both environments sees one fail.',
    symptoms: everywhere('503'),
    remedy: 'Keep health checks and circuit breakers per base address.',
    environment: 'staging',
  }),
];
