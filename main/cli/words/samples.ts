import { type JsonSchema, alternativesOf, choicesOf, propertiesOf } from './json-schema.ts';
import { posixWord } from '../../base/text/shell.ts';
import { commandLineOf } from './command-line.ts';
import type { CliProcedure } from './procedures.ts';

/**
 * Example values for the help where the schema alone gives meaningless ones, by property name or by namespace and
 * property name.
 */
const SAMPLES: Record<string, unknown> = {
  projectId: 'demo',
  keyId: 'CI',
  id: 7,
  petId: 7,
  categoryId: 3,
  quantity: 2,
  limit: 50,
  name: 'Aquarium',
  'keys.name': 'CI',
  'traffic.id': 'trf_mi9x2k4q_42',
  configuration: { domains: ['shop.acme.test', 'www.acme.test'] },
  'caa.method': 'http-01',
  'settings.method': 'http-01',
  'settings.domain': 'letsencrypt.org',
  'settings.secretNames': ['X-Customer-Ref'],
  'domains.domains': ['shop.acme.test', 'www.acme.test'],
  'domains.primary': 'shop.acme.test',
  'traffic.headers': [{ name: 'Accept', value: 'application/json' }],
  body: '{"name":"Otter","categoryId":3}',
  'pets.name': 'Otter',
  changes: [{ id: 7, status: 'sold' }],
  slug: 'aquarium',
  plan: 'pro',
  search: 'otter',
  importId: 'imp_9Lm3NpQr5StUvWx7',
  caller: 'address:127.0.0.1',
  text: '[{"name":"Otter","categoryId":3}]',
  count: 100,
  hostname: 'shop.acme.test',
  redirects: [{ from: 'shop.acme.test', to: 'www.acme.test' }],
  zone: 'acme.test',
  'zones.name': 'acme.test',
  'world.text': '{"vivarium":1}',
  'zones.text': 'www 3600 IN A 127.0.0.1',
  'records.name': 'www',
  'records.id': 'rec_2Kd8VwXy6ZaBcE3f',
  'dns.name': 'www.acme.test',
  'dns.type': 'CAA',
  value: '127.0.0.1',
  suffix: 'acme.dev',
  issuer: 'letsencrypt.org',
  accountUri: 'https://vivarium.localhost/acct/1',
  store: 'system',
  'providers.id': 'con_4Tq8ZbCdE6Hj2KqW',
  'runs.id': 'run_6Hj2KqWx8ZbCdE4f',
  'runs.name': 'shop',
  'runs.url': 'http://localhost:5173',
  'runs.pid': 4711,
  'runs.folder': '/home/me/shop',
  'runs.command': 'npm run dev',
};

/**
 * Excluded from the fuller example: they conflict with other properties, or mean something only in a series of calls.
 */
const EXCLUDED: readonly string[] = [
  'api.body',
  'ca.confirm',
  'api.method',
  'api.secret',
  'pets.after',
  'pets.importId',
  'pets.more',
  'pets.skip',
  'projects.limits',
  'records.force',
  'traffic.after',
  'traffic.before',
  'traffic.body',
  'traffic.method',
  'zones.force',
  'zones.files',
];

/** Builds a valid input with the required properties only, or with all of them. */
export function sampleInput(namespace: string, input: JsonSchema, extent: 'required' | 'all'): Record<string, unknown> {
  const names = Object.keys(propertiesOf(input));
  const chosen = names.filter((name) =>
    extent === 'all' ? !EXCLUDED.includes(`${namespace}.${name}`) : input.required?.includes(name),
  );
  return Object.fromEntries(chosen.map((name) => [name, sample(propertiesOf(input)[name] ?? {}, name, namespace)]));
}

/** An example of a value. */
export function sample(schema: JsonSchema, name: string, namespace: string): unknown {
  const parts = alternativesOf(schema);
  const example = [schema, ...parts].find((part) => part.examples !== undefined)?.examples?.[0];
  if (example !== undefined) return example;
  const known = [`${namespace}.${name}`, name].find((key) => Object.hasOwn(SAMPLES, key));
  if (known !== undefined) return SAMPLES[known];
  if (schema.format === 'int64') return '42';
  const choices = choicesOf(schema);
  // Repeating the default is pointless; another choice shows that there is one.
  if (choices !== null) return choices.find((choice) => choice !== schema.default) ?? choices[0];
  // The alternative with the most properties shows the most.
  const richest = parts.reduce((best, part) => (sizeOf(part) > sizeOf(best) ? part : best));
  return sampleOfType(richest, name, namespace);
}

const sizeOf = (schema: JsonSchema): number => Object.keys(schema.properties ?? {}).length;

function sampleOfType(schema: JsonSchema, name: string, namespace: string): unknown {
  if (schema.properties !== undefined) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([inner, part]) => [inner, sample(part, inner, namespace)]),
    );
  }
  if ('const' in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  switch ([schema.type].flat()[0]) {
    case 'integer':
    case 'number':
      return schema.default ?? Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 100, 100));
    case 'boolean':
      return schema.default !== true;
    case 'array':
      return [sample(schema.items ?? {}, name, namespace)];
    default:
      return schema.format === 'uri' ? 'http://localhost:3000' : name;
  }
}

/** Longer lines are hard to read and to paste. */
const LINE_LENGTH_MAX = 100;

/**
 * Command lines that run once the names are replaced: the shortest, one with as many options as fit into a line, and
 * the `call` form for scripts.
 */
export function examplesOf(procedure: CliProcedure): string[] {
  const { namespace, name, input, inputType } = procedure;
  const all = Object.entries(sampleInput(namespace, input, 'all'));
  const required = sampleInput(namespace, input, 'required');
  const full = all.reduce<Record<string, unknown>>((chosen, [property, value]) => {
    const more = { ...chosen, [property]: value };
    const fits = commandLineOf(procedure, more).length <= LINE_LENGTH_MAX && inputType.safeParse(more).success;
    return fits ? more : chosen;
  }, required);
  // An update without changes is valid but makes a poor example.
  const lines = [...(name === 'update' ? [] : [commandLineOf(procedure, required)]), commandLineOf(procedure, full)];
  const json = Object.keys(required).length === 0 ? '' : ` ${posixWord(JSON.stringify(required))}`;
  const call = `vivarium call ${namespace}.${name}${json}`;
  return [...new Set([...lines, ...(call.length <= LINE_LENGTH_MAX && name !== 'update' ? [call] : [])])];
}
