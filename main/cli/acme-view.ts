import { formatSpan, parseDuration } from '../contract/duration.ts';
import type { AcmeExplanation, AcmeLimits } from '../contract/acme.ts';
import { typed } from '../base/own-command.ts';
import { type Renderer, columns, printable } from './text.ts';

/** An order as a walk: one line for each step, and below it what was asked and found, and each name of CAA. */
export function renderOrder(order: AcmeExplanation, { style }: Renderer): string {
  const rows = columns(order.walk.map(({ step, state, message }) => [printable(step), state, printable(message)]));
  const lines = order.walk.flatMap(({ attempts, caa }, index) => [
    rows[index] ?? '',
    ...attempts.map(({ what, found }) => style.faint(`    ${printable(what)}: ${printable(found)}`)),
    ...(caa?.trace ?? []).map(({ reason }) => style.faint(`    ${printable(reason)}`)),
  ]);
  const head = `${printable(order.names.join(', '))}, profile ${printable(order.profile)}: ${style.word(order.status)}`;
  return `${[style.heading(head), printable(order.message), '', ...lines].join('\n')}\n`;
}

export function renderLimits({ enforced, limits }: AcmeLimits, { style }: Renderer): string {
  const rows = limits.flatMap(({ limit, count, period, used }) => [
    [limit, `${count} in ${formatSpan(parseDuration(period))}`, ''],
    ...used.map(({ of, left, fullAt }) => [`  ${printable(of)}`, `${left} left`, `all again at ${fullAt}`]),
  ]);
  const change = typed(`vivarium settings update --${enforced ? 'no-' : ''}acme-limits`);
  const state = enforced ? 'ACME clients are limited. To lift that:' : 'ACME clients are not limited. To limit them:';
  return `${[style.heading(`${state} ${change}`), '', ...columns(rows)].join('\n')}\n`;
}
