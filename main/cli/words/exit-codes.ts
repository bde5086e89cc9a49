import { ALL_DEEDS, deedOf } from './deeds.ts';
import { procedureNamed } from './procedures.ts';
import { EXIT_FAILED, EXIT_NOT_RUNNING, EXIT_OK } from '../text/io.ts';
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

/**
 * The procedures whose result can report a failure. A refusal, such as `certificates.renew` against CAA, is not a
 * result and always exits with 1. `vivarium call` exits with 0 whenever there is a result.
 */
const FAILED_RESULTS = [...ALL_DEEDS].flatMap(([called, { failed }]) =>
  failed === undefined ? [] : [[called, failed[0]]],
);

/** The exit code for a result of `procedure`, such as `deploys.create`. */
export const exitCodeFor = (procedure: string, json: string): number =>
  deedOf(procedure).failed?.[1](JSON.parse(json)) === true ? EXIT_FAILED : EXIT_OK;

export const exitCodesHelp = (): string => `vivarium: exit codes

${indented(columns(EXIT_CODES.map(([code, ...rest]) => [String(code), ...rest])))}

Results that are failures; "vivarium call" exits with 0 for them
${indented(columns(FAILED_RESULTS.map(([called = '', when = '']) => [procedureNamed(called).words, when])))}
`;

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join('\n');
