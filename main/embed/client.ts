import type { ContractProcedure, ErrorMap, Meta } from '@orpc/contract';
import type { z } from 'zod';
import type { Running } from '../base/system/runtime-file.ts';
import { callProcedure } from '../cli/engine/client.ts';
import { RemoteFailure } from '../cli/text/io.ts';
import { type ErrorCode, VivariumError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { Engine } from './engines.ts';

/**
 * Every procedure of the contract as a function: `domains.attach(input)` is the command `vivarium domain attach`. The
 * package's declarations describe the same type without zod (`declarations.ts`).
 */
export type Client = {
  [Namespace in keyof Contract]: {
    [Procedure in keyof Contract[Namespace]]: Call<Contract[Namespace][Procedure]>;
  };
};

type Call<Procedure> =
  Procedure extends ContractProcedure<infer Input extends z.ZodType, infer Output extends z.ZodType, ErrorMap, Meta>
    ? (...input: Arguments<z.input<Input>>) => Promise<z.output<Output>>
    : Procedure extends ContractProcedure<infer Input extends z.ZodType, infer Output, ErrorMap, Meta>
      ? (...input: Arguments<z.input<Input>>) => AsyncIterable<StreamOf<Output>>
      : never;

type Arguments<Input> = undefined extends Input ? [input?: Input] : [input: Input];

type StreamOf<Output> = Output extends {
  '~standard': { types?: { output: AsyncIterator<infer Value, unknown, unknown> } | undefined };
}
  ? Value
  : never;

type Procedure = (input?: unknown) => unknown;

/** The client's functions, by namespace. They call the engine over its control port, with its token. */
export function makeCalls(engine: Engine): Record<string, Record<string, Procedure>> {
  const { runtime, procedures } = engine;
  const running = (): Running => ({ ...runtime.control, pid: runtime.pid, dataDir: runtime.dataDir });

  async function answer(name: string, input: unknown): Promise<unknown> {
    try {
      const reply = await callProcedure(running(), name, textOf(input));
      return reply.kind === 'result' ? parse(reply.json) : undefined;
    } catch (error) {
      throw engine.lost() ?? refusal(error);
    }
  }

  async function* stream(name: string, input: unknown): AsyncGenerator<unknown, void, void> {
    const end = new AbortController();
    try {
      const reply = await callProcedure(running(), name, textOf(input), end.signal);
      if (reply.kind === 'stream') for await (const json of reply.values) yield parse(json);
    } catch (error) {
      throw engine.lost() ?? refusal(error);
    } finally {
      end.abort();
    }
  }

  const calls: Record<string, Record<string, Procedure>> = {};
  for (const { namespace, name, isStream } of procedures) {
    const ask = isStream ? stream : answer;
    (calls[namespace] ??= {})[name] = (input) => ask(`${namespace}.${name}`, input);
  }
  return calls;
}

const textOf = (input: unknown): string => (input === undefined ? '' : JSON.stringify(input));
const parse = (json: string): unknown => (json === '' ? undefined : JSON.parse(json));

/** Converts an error response into an error with the engine's code. */
function refusal(error: unknown): unknown {
  if (!(error instanceof RemoteFailure)) return error;
  const { code, message, issues = [] } = error.failure;
  return new VivariumError(code as ErrorCode, message, { issues });
}
