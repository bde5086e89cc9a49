import type { CaaVerdict } from '../../contract/caa.ts';
import type { StoreTrust } from '../../contract/certificates.ts';
import type { Deploy } from '../../contract/projects.ts';
import type { DoctorReport } from '../../contract/doctor.ts';
import type { Domain } from '../../contract/domains.ts';
import type { MachineChanges } from '../../contract/machine.ts';
import { kebab } from './procedures.ts';
import { EXIT_FAILED, EXIT_NOT_RUNNING, EXIT_OK } from '../text/io.ts';
import { hasFailed, isStepped } from '../text/views.ts';
import { columns } from '../text/text.ts';

/** Topic of `vivarium help exit-codes`. */
export const EXIT_CODES_TOPIC = 'exit-codes';

/** What the exit codes of the commands mean. */
export const EXIT_CODES: readonly (readonly [code: number, commands: string, meaning: string])[] = [
  [EXIT_OK, 'all', 'done; also when a stream is interrupted or its reader goes away'],
  [EXIT_OK, 'start -d', 'also when a Vivarium is already running on the data folder'],
  [EXIT_FAILED, 'all', 'usage error, the command was refused, or its result is a failure, see below'],
  [EXIT_FAILED, 'doctor', 'a check failed; warnings are 0'],
  [EXIT_FAILED, 'check', 'something is wrong with the file'],
  [EXIT_FAILED, 'wait', 'the time limit passed before a Vivarium was serving'],
  [EXIT_FAILED, 'rehearse', 'a step failed, or an expectation was not met'],
  [EXIT_FAILED, 'run', 'the command could not be served; else its own exit code'],
  [
    EXIT_NOT_RUNNING,
    'all but serve, start, run, rehearse, init, mcp, wait, check, logs and doctor',
    'no Vivarium is running on the data folder',
  ],
  [EXIT_NOT_RUNNING, 'rehearse', 'it could not run: the file has a fault, or the engine did not start'],
];

/** A procedure whose result can report a failure. */
export interface FailedResult {
  procedure: string;
  /** The condition of a failure, as the end of a sentence. */
  when: string;
  isFailed(result: unknown): boolean;
}

function failed<Result>(procedure: string, when: string, isFailed: (result: Result) => boolean): FailedResult {
  return { procedure, when, isFailed: (result) => isFailed(result as Result) };
}

/**
 * The results that exit with 1. A refusal, such as `certificates.renew` against CAA, is not a result and always exits
 * with 1. `vivarium call` does not use this table: it exits with 0 whenever there is a result.
 */
export const FAILED_RESULTS: readonly FailedResult[] = [
  failed<Deploy>('deploys.create', 'the status is failed', ({ status }) => status === 'failed'),
  failed<{ left: unknown[] }>('ca.retract', 'a trust store still has the wider root', ({ left }) => left.length > 0),
  failed<unknown>('domains.attach', 'with --local: a step failed', (result) => isStepped(result) && hasFailed(result)),
  failed<Domain>(
    'domains.verify',
    'the state is not verified, a check failed, or the certificate failed',
    ({ state, certificate, checks }) =>
      state !== 'verified' || certificate.state === 'failed' || checks.some(({ outcome }) => outcome === 'failed'),
  ),
  failed<CaaVerdict>(
    'caa.explain',
    'the verdict is forbidden or lookup_failed',
    ({ verdict }) => verdict !== 'allowed',
  ),
  failed<StoreTrust>('ca.trust', 'the store does not trust the root', ({ state }) => state !== 'trusted'),
  failed<StoreTrust>(
    'ca.untrust',
    'the store cannot be changed without the command in the answer',
    ({ state, command }) => state === 'unavailable' || (state === 'trusted' && command !== undefined),
  ),
  failed<MachineChanges>('machine.apply', 'the change is not made', ({ changes }) =>
    changes.some(({ state }) => state !== 'applied'),
  ),
  failed<MachineChanges>('machine.undo', 'a change is left', ({ changes }) =>
    changes.some(({ state }) => state !== 'undone'),
  ),
  failed<DoctorReport>('doctor.run', 'a check failed', ({ counts }) => counts.failed > 0),
];

/** The exit code for a result of `procedure`, such as `deploys.create`. */
export function exitCodeFor(procedure: string, json: string): number {
  const entry = FAILED_RESULTS.find((candidate) => candidate.procedure === procedure);
  return entry?.isFailed(JSON.parse(json)) === true ? EXIT_FAILED : EXIT_OK;
}

export const exitCodesHelp = (): string => `vivarium: exit codes

${indented(columns(EXIT_CODES.map(([code, ...rest]) => [String(code), ...rest])))}

Results that are failures; "vivarium call" exits with 0 for them
${indented(columns(FAILED_RESULTS.map(({ procedure, when }) => [kebab(procedure).replace('.', ' '), when])))}
`;

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join('\n');
