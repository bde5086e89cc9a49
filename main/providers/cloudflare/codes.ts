import { refuse } from '../operations.ts';

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
