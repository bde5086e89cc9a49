import type { Services } from '../../../main/contract/index.ts';

/** What a procedure returns by the contract. */
export type Output<Procedure extends string> =
  Procedure extends `${infer Namespace extends keyof Services}.${infer Name}`
    ? Awaited<Called<Services[Namespace], Name>>
    : unknown;

type Called<Service, Name> = Name extends keyof Service
  ? Service[Name] extends (...values: never) => infer Result
    ? Result
    : unknown
  : unknown;

/** One procedure over a control port, with an input that may be wrong; a refusal is thrown with its code and issues. */
export async function callAt<Procedure extends string>(
  { url, token }: { url: string; token: string },
  procedure: Procedure,
  input?: unknown,
): Promise<Output<Procedure>> {
  const response = await fetch(`${url}/api/${procedure.replace('.', '/')}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(input !== undefined && { body: JSON.stringify(input) }),
  });
  const value = (await response.json()) as { message?: string };
  if (!response.ok) throw Object.assign(new Error(value.message), value);
  return value as Output<Procedure>;
}
