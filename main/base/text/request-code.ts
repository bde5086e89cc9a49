import { UNPRINTABLE, hasType, type CopiedRequest } from './shell.ts';

/** For Node, with `VIVARIUM_KEY` in the environment. The body is a string, which keeps int64 values exact. */
export function asFetch({ method, url, headers, body, bytes, authorized }: CopiedRequest): string {
  const data = takesBody(method) ? bodyInCode({ headers, body, bytes }) : undefined;
  const options = [
    ...methodAndHeaders({ method, headers, authorized }),
    ...(data === undefined ? [] : [`body: ${data}`]),
  ];
  const second = options.length === 0 ? '' : `, {\n${options.map((option) => `  ${option},\n`).join('')}}`;
  return `const response = await fetch(${literal(url)}${second});`;
}

/** The options of a request in JavaScript that say how and with what; `more`: further fields. */
function methodAndHeaders(
  { method, headers, authorized }: Pick<CopiedRequest, 'method' | 'headers' | 'authorized'>,
  more: readonly string[] = [],
): string[] {
  const fields = [
    ...(authorized ? ['Authorization: `Bearer ${process.env.VIVARIUM_KEY}`'] : []),
    ...headers.map(({ name, value }) => `${nameInCode(name)}: ${literal(value)}`),
    ...more,
  ];
  return [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(fields.length === 0 ? [] : [`headers: {\n${fields.map((field) => `    ${field},\n`).join('')}  }`]),
  ];
}

/**
 * For Python's standard library, with `VIVARIUM_KEY` in the environment. `caFile`: the root of an HTTPS address.
 * Answers with 4xx and 5xx are raised as `HTTPError`.
 */
export function asPython(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  { caFile }: { caFile?: string | undefined } = {},
): string {
  const fields = [
    ...(authorized ? [`"Authorization": f"Bearer {os.environ['VIVARIUM_KEY']}"`] : []),
    ...headers.map(({ name, value }) => `${inPython(name)}: ${inPython(value)}`),
  ];
  const data =
    bytes !== undefined
      ? `base64.b64decode(${inPython(bytes)})`
      : body === undefined
        ? undefined
        : `${inPython(body)}.encode()`;
  const modules = [
    ...(bytes === undefined ? [] : ['base64']),
    ...(authorized ? ['os'] : []),
    ...(caFile === undefined ? [] : ['ssl']),
    'urllib.request',
  ];
  const options = [
    inPython(url),
    `method=${inPython(method)}`,
    ...(fields.length === 0 ? [] : [`headers={${fields.map((field) => `\n        ${field},`).join('')}\n    }`]),
    ...(data === undefined ? [] : [`data=${data}`]),
  ];
  const context = caFile === undefined ? '' : `, context=ssl.create_default_context(cafile=${inPython(caFile)})`;
  return [
    ...modules.map((name) => `import ${name}`),
    '',
    `request = urllib.request.Request(${options.map((option) => `\n    ${option},`).join('')}\n)`,
    `with urllib.request.urlopen(request${context}) as response:`,
    '    print(response.status, response.read())',
  ].join('\n');
}

/** A Python string. JSON's escapes are Python's, too; the others of a prompt or an editor are made the same way. */
const inPython = (text: string): string =>
  JSON.stringify(text).replaceAll(
    new RegExp(UNPRINTABLE, 'gu'),
    (character) => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  );

/** `fetch` sends no body with other methods. */
export const takesBody = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function bodyInCode({ headers, body, bytes }: Pick<CopiedRequest, 'headers' | 'body' | 'bytes'>): string | undefined {
  if (bytes !== undefined) return `Buffer.from(${literal(bytes)}, 'base64')`;
  if (body === undefined) return undefined;
  // Without a Content-Type, fetch would add one for a string.
  return hasType(headers) ? literal(body) : `Buffer.from(${literal(body)})`;
}

/** A JavaScript string in single quotes. DEL is escaped because Node's prompt treats it as backspace. */
const literal = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)
    .replaceAll(new RegExp(UNPRINTABLE, 'gu'), unicodeEscape)}'`;

const unicodeEscape = (character: string): string =>
  Array.from({ length: character.length }, (_, unit) => character.charCodeAt(unit))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

const nameInCode = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/**
 * For axios in Node, with `VIVARIUM_KEY` in the environment. Bodies stay text in both directions, which keeps int64
 * values exact. `pinned`: connects to this machine, regardless of the system's resolver. `caFile`: the root of an HTTPS
 * address.
 */
export function asAxios(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  { pinned, caFile }: { pinned: boolean; caFile: string | undefined },
): string {
  const data = bytes !== undefined ? `Buffer.from(${literal(bytes)}, 'base64')` : body && literal(body);
  // Otherwise axios adds a type for forms.
  const untyped = data !== undefined && !hasType(headers) ? ["'Content-Type': false"] : [];
  const options = [
    `url: ${literal(url)}`,
    ...methodAndHeaders({ method, headers, authorized }, untyped),
    ...(data === undefined ? [] : [`data: ${data}`, 'transformRequest: (data) => data']),
    'transformResponse: (data) => data',
    'validateStatus: () => true',
    ...(pinned ? ["lookup: async () => ['127.0.0.1', 4]"] : []),
    ...(caFile === undefined ? [] : [`httpsAgent: new Agent({ ca: readFileSync(${literal(caFile)}) })`]),
  ];
  return [
    ...(caFile === undefined ? [] : ["import { readFileSync } from 'node:fs';", "import { Agent } from 'node:https';"]),
    "import axios from 'axios';",
    '',
    `const response = await axios({\n${options.map((option) => `  ${option},\n`).join('')}});`,
    'console.log(response.status, response.data);',
  ].join('\n');
}

const GO_CHECK = '\tif err != nil {\n\t\tpanic(err)\n\t}';

/**
 * For Go 1.16 or newer, with `VIVARIUM_KEY` in the environment. Connects to `port` of this machine, whatever the system
 * resolves, ignores a proxy of the environment, and trusts the root in `caFile` in that program alone.
 */
export function asGo(
  { method, url, headers, body, bytes, authorized }: CopiedRequest,
  { port, caFile }: { port: number; caFile: string | undefined },
): string {
  const data =
    bytes !== undefined ? 'bytes.NewReader(content)' : body === undefined ? 'nil' : `strings.NewReader(${inGo(body)})`;
  const secure = caFile !== undefined;
  const modules = [
    ...(bytes === undefined ? [] : ['bytes']),
    'context',
    ...(secure ? ['crypto/tls', 'crypto/x509'] : []),
    ...(bytes === undefined ? [] : ['encoding/base64']),
    'fmt',
    'io',
    'net',
    'net/http',
    ...(secure || authorized ? ['os'] : []),
    ...(bytes === undefined && body !== undefined ? ['strings'] : []),
  ];
  return [
    'package main',
    '',
    'import (',
    ...modules.map((module) => `\t"${module}"`),
    ')',
    '',
    'func main() {',
    ...(secure
      ? [
          `\troot, err := os.ReadFile(${inGo(caFile)})`,
          GO_CHECK,
          '\troots := x509.NewCertPool()',
          '\troots.AppendCertsFromPEM(root)',
        ]
      : []),
    '\tclient := http.Client{Transport: &http.Transport{',
    '\t\t// Replaces the DNS lookup',
    '\t\tDialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {',
    `\t\t\treturn (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:${port}")`,
    '\t\t},',
    ...(secure ? ['\t\tTLSClientConfig: &tls.Config{RootCAs: roots},'] : []),
    '\t}}',
    ...(bytes === undefined ? [] : [`\tcontent, err := base64.StdEncoding.DecodeString(${inGo(bytes)})`, GO_CHECK]),
    `\trequest, err := http.NewRequest(${inGo(method)}, ${inGo(url)}, ${data})`,
    GO_CHECK,
    ...(authorized ? ['\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("VIVARIUM_KEY"))'] : []),
    ...headers.map(({ name, value }) => `\trequest.Header.Add(${inGo(name)}, ${octetsInGo(value)})`),
    '\tresponse, err := client.Do(request)',
    GO_CHECK,
    '\tdefer response.Body.Close()',
    '\tbody, err := io.ReadAll(response.Body)',
    GO_CHECK,
    '\tfmt.Println(response.StatusCode)',
    '\tfmt.Println(string(body))',
    '}',
  ].join('\n');
}

/** A Go string without expansion. The escapes of JSON are a subset of Go's. */
const inGo = (text: string): string => inPython(text.toWellFormed());

/** A Go string of the bytes that Node represents as one character each. */
const octetsInGo = (text: string): string =>
  inGo(text).replaceAll(/[\x80-\xff]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
