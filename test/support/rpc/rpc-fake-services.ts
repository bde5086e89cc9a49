import { contract, type CallContext, type Services } from '../../../main/contract/index.ts';
import type { PetRecord } from '../../../main/contract/pets.ts';
import type { Project } from '../../../main/contract/projects.ts';

type AnyAnswer = (input: unknown, context: CallContext) => unknown;

/** Services that record their calls, and throw with the procedure's name if no answer is set. */
export function createFakeServices() {
  const answers = new Map<string, AnyAnswer>();
  /** In order. */
  const calls: { procedure: string; input: unknown }[] = [];
  const services = Object.fromEntries(
    Object.entries(contract).map(([namespace, procedures]) => [
      namespace,
      Object.fromEntries(
        Object.keys(procedures).map((name) => {
          const procedure = `${namespace}.${name}`;
          const service: AnyAnswer = (input, context) => {
            calls.push({ procedure, input });
            const answer = answers.get(procedure);
            if (answer === undefined)
              throw new Error(`The test sets no answer for "${procedure}" of the fake services.`);
            return answer(input, context);
          };
          return [name, service];
        }),
      ),
    ]),
  );
  return {
    services: services as unknown as Services,
    calls,
    /** Sets the answer of this procedure from now on. */
    stub<Namespace extends keyof Services, Procedure extends keyof Services[Namespace] & string>(
      namespace: Namespace,
      procedure: Procedure,
      answer: Services[Namespace][Procedure],
    ): void {
      answers.set(`${namespace}.${procedure}`, answer as AnyAnswer);
    },
  };
}

export const SAMPLE_PROJECT: Project = {
  id: 'prj_0000000000000001',
  name: 'Aquarium',
  slug: 'aquarium',
  plan: 'pro',
  limits: { perMinute: 300, perDay: 10_000 },
  target: { kind: 'api' },
  baseUrl: {
    production: 'http://aquarium.vivarium.localhost:8080/v1',
    staging: 'http://aquarium-staging.vivarium.localhost:8080/v1',
  },
  secureBaseUrl: {
    production: 'https://aquarium.vivarium.localhost:8443/v1',
    staging: 'https://aquarium-staging.vivarium.localhost:8443/v1',
  },
  primary: null,
  redirects: [],
  persona: 'animal-store',
  createdAt: '2026-11-20T09:00:00.000Z',
};

export const SAMPLE_PET: PetRecord = { id: '7', name: 'Ada', categoryId: '3', status: 'available' };
