import { typed } from '../base/own-command.ts';
import type { AttachStep } from '../contract/domains.ts';
import { columns, type Style } from './text.ts';

/** A result that tells how far a call came: `domains attach --local`. */
export interface Stepped {
  hostname: string;
  steps: readonly AttachStep[];
  url?: string;
}

export const isStepped = (result: unknown): result is Stepped =>
  typeof result === 'object' && result !== null && 'steps' in result && Array.isArray(result.steps);

export const hasFailed = ({ steps }: Stepped): boolean => steps.some(({ ok }) => !ok);

/** One line for each step, the fix of the one that failed, and the address. */
export function renderSteps({ hostname, steps, url }: Stepped, style: Style): string {
  const rows = columns(steps.map(({ step, ok, message }) => [step, style.word(ok ? 'ok' : 'failed'), message]));
  const fixes = steps.flatMap(({ fix }) => (fix === undefined ? [] : ['', fix]));
  const open =
    url?.startsWith('https:') === true ? ['', `${url}  Open it: ${typed(`vivarium reach open ${hostname}`)}`] : [];
  return `${[...rows, ...fixes, ...open].join('\n')}\n`;
}
