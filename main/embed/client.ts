import type { ContractProcedure, ErrorMap, Meta } from '@orpc/contract';
import type { z } from 'zod';
import type { Contract } from '../contract/index.ts';

/**
 * Every procedure of the contract as a function: `domains.attach(input)` is the command `vivarium domains attach`. The
 * declarations of the package say the same without zod (`declarations.ts`).
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
