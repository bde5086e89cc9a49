import { createOpenProject, end, type Figure, startVivarium, temporaryFolder } from '../harness.ts';

const DOMAINS = 1_000;

/** Concurrent calls of a script. */
const CLIENTS = 16;

interface ShownDomain {
  state: string;
  certificate: { state: string };
}

/** From a project and a zone with records to served domains, each by two calls over the control port. */
export async function manyDomains(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const { projectId } = await createOpenProject(vivarium, 'Many');
  await vivarium.call('deploys.create', { projectId });
  await vivarium.call('zones.create', { name: 'many.test' });
  const names = Array.from({ length: DOMAINS }, (_, index) => `d${index}`);
  const text = names.map((name) => `${name} 3600 IN CNAME cname.vivarium.localhost.`).join('\n');
  await vivarium.call('zones.import', { name: 'many.test', text });

  const startedMs = performance.now();
  const rest = [...names];
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
        const hostname = `${name}.many.test`;
        await vivarium.call('domains.attach', { projectId, hostname });
        const domain = await vivarium.call<ShownDomain>('domains.verify', { hostname });
        if (domain.state !== 'verified' || domain.certificate.state !== 'issued') {
          throw new Error(`${hostname} is ${domain.state}, its certificate ${domain.certificate.state}.`);
        }
      }
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  await end(vivarium.child);
  return [
    {
      what: `attach, verify and issue ${DOMAINS.toLocaleString('en')} domains`,
      measured: `${seconds.toFixed(1)} s`,
      wanted: '≤ 10 s',
      met: seconds <= 10,
      detail: `two calls each over the control port, ${CLIENTS} at a time`,
    },
  ];
}
