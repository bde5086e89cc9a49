import { isRecord } from '../../base/text/exact-json.ts';
import type { Ask, ProcedureName } from '../../contract/index.ts';
import type { Domain } from '../../contract/domains.ts';
import { PROVIDER_IDS } from '../../contract/provider-table.ts';
import { isReading } from '../../contract/calls.ts';
import type { TrafficEntry } from '../../contract/traffic.ts';
import { RemoteFailure } from '../text/io.ts';
import { repairDomain } from './repair.ts';
import { REFERENCES } from '../words/help.ts';
import type { JsonSchema } from '../words/json-schema.ts';
import { procedureNamed } from '../words/procedures.ts';

/** A task in the user's words, with the parameters of a procedure of the contract. */
export interface Tool {
  name: string;
  /** What the tool does, and when to use it. */
  does: string;
  /** The procedure whose parameters it has. */
  procedure: ProcedureName;
  /** The parameters that it offers; all by default. */
  offers?: readonly string[];
  /** Other procedures whose result the answer includes; where a message names one, the tool is named instead. */
  covers?: readonly string[];
  /** Computes the answer; by default, calls the procedure. */
  run?(input: Record<string, unknown>, ask: Ask): Promise<unknown>;
  /** The input that continues a list after `shown` items. */
  next?(answer: unknown, shown: number): Record<string, unknown> | null;
  /** The procedure that reads the result of a change again. */
  readBy?(answer: unknown): [procedure: ProcedureName, input: Record<string, unknown>];
}

/** At most 17, because the description of each tool takes up context in every conversation. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'status',
    does: 'What is running and at which addresses: all projects with their plan, target and domains, and the running breaks. Call it first.',
    procedure: 'status.get',
    covers: ['projects.list', 'domains.list', 'breaks.list'],
    async run(_input, ask) {
      const [{ version, dataDir, urls, warnings }, projects, domains, broken] = await Promise.all([
        ask('status.get'),
        ask('projects.list'),
        ask('domains.list'),
        ask('breaks.list'),
      ]);
      return {
        version,
        dataDir,
        interface: urls.control,
        warnings,
        ...(broken.length > 0 && { broken }),
        projects: projects.map(({ id, slug, name, plan, limits, target, baseUrl, secureBaseUrl }) => ({
          slug,
          id,
          name,
          plan,
          limits,
          target,
          urls: [baseUrl.production, secureBaseUrl.production],
          domains: domains
            .filter(({ projectId }) => projectId === id)
            .map(({ hostname, state, certificate }) => ({ hostname, state, certificate: certificate.state })),
        })),
      };
    },
  },
  {
    name: 'list_traffic',
    does: 'Recorded requests, newest first, with the stage that decided each and what answered (proxy, api, provider or upstream). explain_request shows one in full.',
    procedure: 'traffic.list',
    async run(input, ask) {
      const { items, recording } = await ask('traffic.list', input);
      return { recording, items: items.map(rowOf) };
    },
    next(answer, shown) {
      const last = (answer as { items: { id: string }[] }).items[shown - 1];
      return last === undefined ? null : { before: last.id };
    },
  },
  {
    name: 'explain_request',
    does: 'Why a recorded request was answered as it was: stage, limits, headers, bodies, timings. Ids: list_traffic.',
    procedure: 'traffic.get',
  },
  {
    name: 'explain_domain',
    does: 'Why a custom domain works or not: expected and found records, checks, and how to fix each; what the API of the provider that the project imitates says about it.',
    procedure: 'domains.get',
    covers: ['providers.ask'],
    async run(input, ask) {
      const domain = await ask('domains.get', input);
      if (!(PROVIDER_IDS as readonly unknown[]).includes(domain.persona?.id)) return domain;
      return { ...domain, providerApi: await ask('providers.ask', { hostname: domain.hostname }) };
    },
  },
  {
    name: 'explain_certificate',
    does: 'Why a hostname has or lacks a certificate: its validity, and which CAA record permits or forbids the CA.',
    procedure: 'caa.explain',
    covers: ['certificates.get'],
    run: explainCertificate,
  },
  {
    name: 'explain_limits',
    does: 'How much of its minute and day limits each caller of a project has used, when they reset, which callers are banned, and the API keys.',
    procedure: 'limits.usage',
    covers: ['projects.get', 'keys.list'],
    async run(input, ask) {
      const [{ slug, plan, limits }, callers, keys] = await Promise.all([
        ask('projects.get', input),
        ask('limits.usage', input),
        ask('keys.list', input),
      ]);
      return { project: slug, plan, limits, callers, keys };
    },
  },
  {
    name: 'grade_clients',
    does: 'How each API client behaves when it is refused: waits, repetitions, connections, with a grade and the ids of entries behind each finding.',
    procedure: 'manners.report',
  },
  {
    name: 'query_dns',
    does: 'What DNS answers for a name, queried in the same way as when Vivarium verifies a domain.',
    procedure: 'dns.query',
  },
  {
    name: 'doctor',
    does: 'What is wrong with this machine or setup: ports, DNS, upstreams, trust. Lists only problems.',
    procedure: 'doctor.run',
    async run(input, ask) {
      const { counts, checks } = await ask('doctor.run', input);
      return { counts, checks: checks.filter(({ status }) => status === 'failed' || status === 'warning') };
    },
  },
  {
    name: 'send_request',
    does: 'Send a request to a served hostname and explain the answer as explain_request does.',
    procedure: 'traffic.send',
    readBy: (answer) => ['traffic.get', { id: (answer as TrafficEntry).id }],
  },
  {
    name: 'attach_domain',
    does: 'Attach a custom hostname to a project. With local, also set up everything it needs for HTTPS on this machine.',
    procedure: 'domains.attach',
    readBy: (answer) => ['domains.get', { hostname: (answer as Domain).hostname }],
  },
  {
    name: 'repair_domain',
    does: 'Correct the records of an attached domain, including CAA, in the local zone, and verify it. Reports its changes.',
    procedure: 'domains.verify',
    run: ({ hostname }, ask) => repairDomain(String(hostname), ask),
  },
  { name: 'put_record', does: 'Add a DNS record to a local zone.', procedure: 'records.put' },
  {
    name: 'update_project',
    does: 'Change the plan, the limits or the target of a project.',
    procedure: 'projects.update',
    offers: ['projectId', 'plan', 'limits', 'target'],
  },
  {
    name: 'move_clock',
    does: 'Move the clock forward: limits reset, certificates renew, records propagate. It stays moved until "vivarium clock reset".',
    procedure: 'clock.advance',
  },
  {
    name: 'break',
    does: 'Break something on purpose for a time, such as dns.servfail, http.empty-response, api.unavailable or connection.black-hole, for requests to a hostname.',
    procedure: 'breaks.start',
    offers: ['entry', 'on', 'first', 'after', 'rate', 'nth', 'for', 'parameters'],
  },
  { name: 'repair', does: 'Repair a break by its id; status lists running ones.', procedure: 'breaks.stop' },
];

/** Whether a tool changes what Vivarium serves, which needs `--allow-writes`. */
export const isWriting = ({ procedure }: Tool): boolean => !isReading(procedure);

const rowOf = (entry: TrafficEntry) => ({
  id: entry.id,
  at: entry.at,
  request: `${entry.method} ${entry.scheme}://${entry.authority ?? ''}${entry.target}`,
  status: entry.status,
  stage: entry.stage,
  answeredBy: entry.answeredBy,
  ...(entry.fault !== undefined && { fault: entry.fault.entry }),
  ...(entry.project !== undefined && { project: entry.project }),
  ...(entry.refusal !== undefined && { refusal: entry.refusal }),
  ms: Math.round(entry.durationMs),
});

async function explainCertificate(input: Record<string, unknown>, ask: Ask): Promise<unknown> {
  const ofHostname = { hostname: input['hostname'] };
  const [caa, domain, issued] = await Promise.all([
    ask('caa.explain', input),
    unlessAbsent(ask('domains.get', ofHostname)),
    unlessAbsent(ask('certificates.get', ofHostname)),
  ]);
  const { pem: _pem, chain: _chain, ...certificate } = issued ?? { state: 'none' };
  return {
    attached: domain !== null,
    ...(domain !== null && { domain: domain.state, ...domain.certificate }),
    certificate,
    checks: domain?.checks.filter(({ outcome }) => outcome !== 'ok') ?? [],
    caa,
  };
}

/** Null for something that does not exist. */
async function unlessAbsent<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RemoteFailure && error.failure.code === 'not_found') return null;
    throw error;
  }
}

/** A tool as a client lists it. */
export interface Definition {
  name: string;
  description: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
  annotations?: { readOnlyHint: true };
}

/** The tools that a server offers; tools that make changes only on request. */
export const offered = (allowsWrites: boolean): Tool[] => TOOLS.filter((tool) => allowsWrites || !isWriting(tool));

/** A tool's definition: its parameters are those of its procedure in the contract. */
export function define(tool: Tool): Definition {
  const { properties = {}, required = [] } = procedureNamed(tool.procedure).input;
  const names = tool.offers ?? Object.keys(properties);
  const kept = names.flatMap((name) => {
    const schema = properties[name];
    return schema === undefined ? [] : [[name, concise(schema)] as const];
  });
  const needed = required.filter((name) => names.includes(name));
  return {
    name: tool.name,
    description: tool.does,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(kept),
      ...(needed.length > 0 && { required: needed }),
    },
    ...(!isWriting(tool) && { annotations: { readOnlyHint: true } }),
  };
}

/** Schema parts that only help after a mistake, which Vivarium explains anyway; omitted to save context. */
const OMITTED = new Set([
  'allOf',
  '$schema',
  'pattern',
  'minLength',
  'maxLength',
  'maxItems',
  'minItems',
  'additionalProperties',
]);

function concise(schema: JsonSchema): JsonSchema {
  const { title, ...rest } = schema;
  const reference = title === undefined ? undefined : REFERENCES.get(title);
  const short = Object.fromEntries(
    Object.entries(rest)
      .filter(([name]) => !OMITTED.has(name))
      .map(([name, value]) => [name, isSchema(value) ? concise(value) : conciseParts(name, value)]),
  );
  return reference === undefined ? short : { ...short, description: reference };
}

function conciseParts(name: string, value: unknown): unknown {
  if (name === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonSchema>).map(([key, part]) => [key, concise(part)]),
    );
  }
  if (name === 'anyOf' || name === 'oneOf') return (value as JsonSchema[]).map(concise);
  return value;
}

const isSchema = (value: unknown): value is JsonSchema => isRecord(value) && 'type' in value;
