import { hash } from 'node:crypto';
import { platformHostname } from '../../base/config.ts';
import { countIn } from '../domains.ts';
import { refuse } from '../operations.ts';
import type { Account, ProviderProject } from '../facts.ts';
import type { Call, Reply } from '../provider.ts';

/** 32 hexadecimal digits: stable, so none is stored. */
export const idOf = (text: string): string => hash('sha256', text).slice(0, 32);

export const accountIdOf = ({ id }: Account): string => idOf(id);

export const ok = (result: unknown, status = 200, more: Record<string, unknown> = {}): Reply => ({
  status,
  body: { success: true, errors: [], messages: [], result, ...more },
});

/**
 * A zone with the custom hostnames of a project, and the name servers that the account was given for it. `added` is null
 * for a project's own zone, which is the platform's and has no records to change.
 */
export type Zone = ReturnType<typeof zonesOf>[number];

/** The zone that a project has from the beginning. */
export const ownZoneOf = ({ slug }: ProviderProject): string => platformHostname(slug, 'production');

/** Two for each project, so that a zone cannot be active in two accounts. */
export const serversFor = ({ id }: ProviderProject): string[] =>
  [idOf(id).slice(0, 12), idOf(id).slice(12, 24)].map((name) => `${name}.ns.cloudflare.com`);

/** The zone of each project, then those that the account has added. */
export function zonesOf({ account, world }: Pick<Call, 'account' | 'world'>) {
  const items = world.items.list('domain');
  const own = account.projects.map((project) => ({ name: ownZoneOf(project), project, added: null }));
  const others = account.projects.flatMap((project) =>
    items.filter(({ projectId }) => projectId === project.id).map((added) => ({ name: added.name, project, added })),
  );
  return [...own, ...others].map((zone) => ({ ...zone, id: idOf(zone.name), servers: serversFor(zone.project) }));
}

/** By the name servers that DNS answers (`dns/zone-setups/reference/domain-status`); notes that a zone became active. */
export async function zoneStatus(
  { world, isQuestion }: Pick<Call, 'world' | 'isQuestion'>,
  { name, servers, added }: Zone,
): Promise<'active' | 'pending' | 'moved'> {
  if (added === null) return 'active';
  const { activatedMs } = added.data;
  if (!(await world.isDelegated({ name, servers }))) return activatedMs === undefined ? 'pending' : 'moved';
  const isKept = world.items.list('domain').some((item) => item.projectId === added.projectId && item.name === name);
  if (activatedMs === undefined && isKept && isQuestion !== true)
    world.items.put({ ...added, data: { ...added.data, activatedMs: world.now() } });
  return 'active';
}

/** The zone of `{zone_id}`. */
export function zoneIn(call: Call): Zone {
  const { zone_id: id = '' } = call.params;
  const found = zonesOf(call).find((zone) => zone.id === id);
  if (found !== undefined) return found;
  const path = `/client/v4/zones/${id.slice(0, 64)}`;
  return refuse(404, '7003', `Could not route to ${path}, perhaps your object identifier is invalid?`);
}

const PAGE_MAX = 1_000_000;

/** One page of rows. A page after the last one is empty, by which the official client's pager ends. */
export function page(rows: readonly unknown[], query: URLSearchParams, sizeMax: number, size = 20): Reply {
  const number = (name: string, usual: number, max: number): number =>
    countIn(query, name, usual, max, () => refuse(400, '1400', `Invalid \`${name}\`.`));
  const [at, each] = [number('page', 1, PAGE_MAX), number('per_page', size, sizeMax)];
  const shown = rows.slice((at - 1) * each, at * each);
  const info = { page: at, per_page: each, count: shown.length, total_count: rows.length };
  return ok(shown, 200, { result_info: { ...info, total_pages: Math.ceil(rows.length / each) } });
}

/** Whether the fields are what a query asks for: `name`, `name.exact`, `name.contains`, `name.startswith` and so on. */
export const matches = (query: URLSearchParams, fields: Readonly<Record<string, string>>): boolean =>
  Object.entries(fields).every(([field, text]) =>
    [...query].every(([key, value]) => {
      const [name, how = 'exact'] = key.split(/\.(.*)/);
      const test = name === field ? MATCHES[how.toLowerCase()] : undefined;
      return test === undefined || test(text.toLowerCase(), value.toLowerCase());
    }),
  );

const MATCHES: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  exact: (text, value) => text === value,
  contain: (text, value) => text.includes(value),
  contains: (text, value) => text.includes(value),
  startswith: (text, value) => text.startsWith(value),
  endswith: (text, value) => text.endsWith(value),
};

const AGAIN = 'Check your input and try again.';
const SHAPE =
  'have to be smaller than 256 characters in length, cannot be IP addresses, cannot contain any special characters such as ``~`!@#$%^&*()=+{}[]\\';
const ONLY = (field: string, values: string): readonly [number, string] => [
  400,
  `Invalid \`${field}\` setting. Only ${values} is accepted. ${AGAIN}`,
];

/**
 * Status and message by code: those from 1400 to 1449 as documented for custom hostnames (developers.cloudflare.com,
 * `reference/status-codes/custom-hostnames`), those of zones by `dns/zone-setups/troubleshooting/cannot-add-domain` and as
 * observed, like the others.
 */
const CODES = {
  1400: [400, `Unable to decode the JSON request body. ${AGAIN}`],
  1405: [403, 'Quota exceeded.'],
  1406: [409, 'Duplicate custom hostname found.'],
  1407: [400, `Invalid custom hostname. Custom hostnames ${SHAPE}`],
  1408: [400, `Custom hostnames with non-ASCII characters are not supported. ${AGAIN}`],
  1411: [400, `Custom hostnames ending in example.com, example.net, or example.org are prohibited. ${AGAIN}`],
  1420: [400, `Wildcard custom origin hostnames are not supported. ${AGAIN}`],
  1421: [
    400,
    `The custom origin hostname you specified does not exist on Cloudflare as a DNS record (A, AAAA or CNAME) in your zone. ${AGAIN}`,
  ],
  1422: ONLY('http2', "'on' or 'off'"),
  1424: ONLY('tls_1_3', "'on' or 'off'"),
  1425: ONLY('min_tls_version', "'1.0','1.1','1.2' or '1.3'"),
  1432: [400, `The validation method is not supported. Only \`http\`, \`email\`, or \`txt\` are accepted. ${AGAIN}`],
  1433: [400, `The validation type is not supported. Only 'dv' is accepted. ${AGAIN}`],
  1435: [400, `The custom hostname ID is invalid. ${AGAIN}`],
  1436: [404, 'The custom hostname was not found.'],
  1438: [400, `Cannot specify other filter parameters in addition to \`id\`. Only one must be specified. ${AGAIN}`],
  1440: [400, `Both validation type and validation method are required. ${AGAIN}`],
  1448: [400, 'Custom hostnames with wildcards are not supported for certificates managed by Cloudflare.'],
  1449: [400, 'The request input `bundle_method` must be one of: ubiquitous, optimal, force.'],
  1551: [404, 'The fallback origin was not found.'],
  1021: [400, 'Invalid zone status'],
  1061: [400, 'NAME already exists'],
  1099: [
    400,
    'We were unable to identify NAME as a registered domain. Please ensure you are providing the root domain and not any subdomains (e.g., example.com, not subdomain.example.com)',
  ],
  1104: [400, 'Partial zone signup not allowed'],
  1116: [
    400,
    'Please ensure you are providing the root domain and not any subdomains (e.g., example.com, not subdomain.example.com)',
  ],
  1097: [400, 'This zone is the platform’s own. Create a zone of your own for it.'],
  9109: [403, 'Invalid access token'],
  81044: [404, 'Record does not exist.'],
  81053: [400, 'An A, AAAA, or CNAME record with that host already exists.'],
  81058: [400, 'An identical record already exists.'],
} as const satisfies Record<number, readonly [number, string]>;
export type Code = keyof typeof CODES;

/** @throws Refused; `detail` is what Vivarium can say beyond the provider's own words, `name` is for messages with one. */
export function fail(code: Code, detail?: string, name = ''): never {
  const [status, message] = CODES[code];
  return refuse(status, String(code), message.replace('NAME', name), detail === undefined ? {} : { detail });
}
