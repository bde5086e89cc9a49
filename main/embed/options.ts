import { SEED_MAX } from '../contract/breaks.ts';
import { invalidRequest } from '../contract/errors.ts';
import { didYouMean } from '../contract/issues.ts';
import type { ExamineOptions, ProviderOptions, StartOptions, TenantOptions } from './types.ts';

type Kind = 'boolean' | 'list' | 'number' | 'object' | 'seed' | 'string';

/** The options of a function: the type of each, and what it must be, in words. */
type Known<Options> = Readonly<Record<keyof Options, readonly [kind: Kind, words: string]>>;

export const START_OPTIONS: Known<StartOptions> = {
  demo: ['boolean', 'true or false'],
  clock: ['string', 'a time, such as "2030-01-01"'],
  file: ['string', 'the path of a vivarium.yaml'],
};

export const TENANT_OPTIONS: Known<TenantOptions> = {
  plan: ['string', 'a plan, such as "pro"'],
  limits: ['object', 'an object, such as { perMinute: 5, perDay: 100 }'],
  pets: ['number', 'a number of pets'],
};

export const PROVIDER_OPTIONS: Known<ProviderOptions> = { also: ['list', 'a list of projects, such as ["blog"]'] };

export const EXAMINE_OPTIONS: Known<ExamineOptions> = {
  only: ['list', 'a list of names of rows or families, such as ["http"]'],
  seed: ['seed', `a whole number from 0 to ${SEED_MAX}`],
};

/** @throws VivariumError `invalid_request` for an unknown option, with the nearest name, or a value of another type */
export function checkOptions<Options>(of: string, known: Known<Options>, given: unknown): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidRequest(`${of} takes an object with options, not ${shown(given)}.`);
  }
  for (const [name, value] of Object.entries(given)) {
    const names = Object.keys(known);
    if (!names.includes(name)) {
      throw invalidRequest(
        `${of} has no option "${name}".${didYouMean(name, names) || ` It has ${names.join(', ')}.`}`,
      );
    }
    const [kind, words] = known[name as keyof Options];
    const isRight =
      kind === 'seed'
        ? Number.isInteger(value) && Number(value) >= 0 && Number(value) <= SEED_MAX
        : value !== null && kind === (Array.isArray(value) ? 'list' : typeof value);
    if (value !== undefined && !isRight) {
      throw invalidRequest(`The option ${name} of ${of} must be ${words}, not ${shown(value)}.`);
    }
  }
}

/** The value in a few words: JSON, where it has any. */
function shown(value: unknown): string {
  const kind = typeof value;
  if (value === null || kind === 'string' || kind === 'boolean' || kind === 'number') {
    return (JSON.stringify(value) as string).slice(0, 100);
  }
  return Array.isArray(value) ? 'a list' : value instanceof Date ? 'a Date' : kind === 'undefined' ? kind : `a ${kind}`;
}
