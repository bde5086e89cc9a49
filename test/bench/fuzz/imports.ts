import { type Fuzzer, type FuzzTarget, inParallel } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

interface Import {
  procedure: string;
  text: string;
  input: (text: string) => unknown;
}

const imports = ({ projectId }: FuzzTarget): Import[] => {
  const pets = (format: 'json' | 'csv') => (text: string) => ({ projectId, environment: 'staging', format, text });
  const zone = '$ORIGIN fuzz.test.\n$TTL 1h\n@ SOA ns.fuzz.test. host.fuzz.test. ( 1 2h 3m ; c\n 4w 300 )\n@ NS ns\n';
  const records =
    'www 60 IN A 192.0.2.1\n* AAAA ::1\nt TXT "a\\"b" c\n@ CAA 0 issue "ca.test; x=y"\n$GENERATE 1-3 h$ A 192.0.2.$\n';
  return [
    {
      procedure: 'pets.import',
      text: '[{"name":"Rex","categoryId":1,"status":"sold"},{"name":"é"}]',
      input: pets('json'),
    },
    { procedure: 'pets.import', text: 'name,categoryId,status\nRex,1,sold\n"a ""b""",2,\n', input: pets('csv') },
    { procedure: 'zones.import', text: zone + records, input: (text) => ({ name: 'fuzz.test', text, force: true }) },
    {
      procedure: 'world.diff',
      text: '{"vivarium":1,"projects":{"fuzzed":{"plan":"pro","domains":{"a.test":{"redirect":"https://b.test"}}}}}',
      input: (text) => ({ text }),
    },
    {
      procedure: 'domains.setRedirects',
      text: 'https://shop.fuzz.test',
      input: (to) => ({ projectId, redirects: [{ from: 'shop.fuzz.test', to }] }),
    },
    { procedure: 'dns.query', text: 'www.fuzz.test', input: (name) => ({ name, type: 'A' }) },
  ];
};

export const IMPORTS: Fuzzer = {
  name: 'imports and other texts at the control port',
  share: 0.03,
  async run(target, random, count) {
    const { url, token } = target.vivarium.runtime.control;
    const seeds = imports(target);
    let faults = 0;
    await inParallel(count, async () => {
      const { procedure, text, input } = pick(seeds, random);
      const body = JSON.stringify(input(mutate(Buffer.from(text), random).toString()));
      const response = await fetch(`${url}/api/${procedure.replace('.', '/')}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      }).catch(() => null);
      await response?.arrayBuffer().catch(() => undefined);
      if (response?.status === 500) {
        faults += 1;
        console.error(`${procedure} answers 500: ${body.slice(0, 500)}`);
      }
    });
    return faults;
  },
};
