import { pairsOf, percentDecoded } from '../base/http/message.ts';
import { HIDDEN, secretNames, type IsSecretName } from './secret-names.ts';

/** A string, possibly cut off at its end; punctuation; any other run, such as a number. */
const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * Replaces the values of JSON members with secret names: strings, numbers, and those in an array. The text may be
 * incomplete or invalid: bodies are recorded in part, and streams have several values. Other text is kept.
 */
function redactJson(text: string, isSecret: IsSecretName, hide: (secret: string) => string): string {
  if (!text.includes('"')) return text;
  let redacted = '';
  let copied = 0;
  let name: string | null = null;
  let isMember = false;
  /** The depth of open brackets within a secret array. */
  let depth = 0;
  let previous = '';
  const isTokenRequest = text.includes('"grant_type"');
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const first = token.charAt(0);
    if (first === ':') {
      const member = previous.startsWith('"') ? stringOf(previous) : '';
      isMember = isSecret(member) || (member === 'code' && isTokenRequest);
      name = isMember ? stringOf(previous) : null;
    } else {
      if (first === '[' && (isMember || depth > 0)) depth++;
      else if (first === ']' && depth > 0) depth--;
      else if (first === '{' || first === '}') depth = 0;
      else if ((isMember || depth > 0) && isValue(token, name)) {
        redacted += text.slice(copied, index) + hidden(token, hide);
        copied = index + token.length;
      }
      isMember = false;
    }
    previous = token;
  }
  return redacted + text.slice(copied);
}

const stringOf = (token: string): string => token.slice(1, token.endsWith('"') ? -1 : undefined);

/** Strings, and numbers such as a PIN; not counts such as `max_tokens`. */
const isValue = (token: string, name: string | null): boolean =>
  token.startsWith('"') || (/^-?\d/.test(token) && name?.toLowerCase().endsWith('s') !== true);

/** Keeps the form, so JSON remains JSON; an already shortened value is kept. */
function hidden(token: string, hide: (secret: string) => string): string {
  if (!token.startsWith('"')) return hide(token) === HIDDEN ? `"${HIDDEN}"` : hide(token);
  const text = stringOf(token);
  return text === '' || text.endsWith(HIDDEN) ? token : `"${hide(text)}"`;
}

/** The redactor for the names in `secret-names.ts` and `own` ones; recreated when `own` returns another list. */
export function createRedactors(own: () => readonly string[]): () => Redactor {
  let names = own();
  let redactor = createRedactor(names);
  return () => {
    const current = own();
    if (current !== names) {
      names = current;
      redactor = createRedactor(names);
    }
    return redactor;
  };
}

/** Shows recorded data without its secrets. */
export function createRedactor(own: readonly string[]) {
  const isSecret = secretNames(own);
  const redactFields = (fields: readonly string[], redactProtocol: (protocol: string) => string) =>
    pairsOf(fields).map(([name, value]) => {
      const lower = name.toLowerCase();
      const isList = lower === PROTOCOLS;
      return { name, value: isList ? eachOf(value, redactProtocol) : redactField(lower, value, isSecret) };
    });
  return {
    /** Header fields of a flat list; of a response, with those of its request, whose subprotocols it may repeat. */
    fields(fields: readonly string[], request: readonly string[] = []): { name: string; value: string }[] {
      // A server chooses one of the protocols that the client offers, which may be its secret.
      const offered = protocolsIn(redactFields(request, createProtocolRedactor(isSecret)));
      const redactChosen = (protocol: string): string => (offered.has(protocol) ? protocol : HIDDEN);
      return redactFields(fields, offered.size > 0 ? redactChosen : createProtocolRedactor(isSecret));
    },
    /** Any text, such as a target: parameters, user information of URLs, and anything in the form of a secret. */
    text: (text: string): string => redactText(text, isSecret, shortly),
    /** A body: the same, plus members of JSON, elements of XML, and fields of forms. */
    body: (text: string): string => redactBody(text, isSecret, shortly),
    /** Binary data, such as a form with a file; keeps the length. */
    bytes(bytes: Buffer): Buffer {
      const text = bytes.toString('latin1');
      const redacted = redactBody(text, isSecret, atLength);
      return redacted === text ? bytes : Buffer.from(redacted, 'latin1');
    },
  };
}

export type Redactor = ReturnType<typeof createRedactor>;

/** Replaces a secret, except its first `kept` characters. */
type Hide = (secret: string, kept?: number) => string;

const shortly: Hide = (secret, kept = 0) => secret.slice(0, kept) + HIDDEN;
const atLength: Hide = (secret, kept = 0) => secret.slice(0, kept).padEnd(secret.length, '*');

/** The visible prefix of a key's secret, the same as in the list of keys. */
const PREFIX_LENGTH = 8;

function redactField(name: string, value: string, isSecret: IsSecretName): string {
  if (name === 'set-cookie' || name === 'set-cookie2') {
    const [pair = '', ...attributes] = value.split(';');
    return [redactPair(pair), ...attributes].join(';');
  }
  if (!isSecret(name)) return redactText(value, isSecret, shortly);
  if (name.endsWith('authorization')) return redactCredentials(value);
  if (name === 'cookie') {
    return value
      .split(';')
      .map((pair) => redactPair(pair.trim()))
      .join('; ');
  }
  return HIDDEN;
}

/** `Bearer viv_3fQ9…`: the scheme and, for one of our keys, its prefix. */
function redactCredentials(value: string): string {
  const [scheme = '', ...rest] = value.trim().split(/\s+/);
  const secret = rest.join(' ');
  if (secret === '') return HIDDEN;
  return `${scheme} ${shortly(secret, secret.startsWith('viv_') ? PREFIX_LENGTH : 0)}`;
}

function redactPair(pair: string): string {
  const equals = pair.indexOf('=');
  return equals < 0 ? HIDDEN : `${pair.slice(0, equals)}=${HIDDEN}`;
}

const PROTOCOLS = 'sec-websocket-protocol';

const eachOf = (list: string, change: (element: string) => string): string =>
  list
    .split(',')
    .map((element) => change(element.trim()))
    .join(', ');

const protocolsIn = (fields: readonly { name: string; value: string }[]): Set<string> =>
  new Set(
    fields.flatMap(({ name, value }) =>
      name.toLowerCase() === PROTOCOLS ? value.split(',').map((each) => each.trim()) : [],
    ),
  );

/**
 * Redacts WebSocket subprotocols in turn. For a WebSocket, browsers can send credentials only in here, as one protocol
 * (`token.<token>`, Kubernetes' `base64url.bearer.authorization.k8s.io.<token>`) or as two (`access_token, <token>`),
 * which may be in two fields.
 */
function createProtocolRedactor(isSecret: IsSecretName): (protocol: string) => string {
  let isNextSecret = false;
  return (protocol) => {
    const wasNamed = isNextSecret;
    // `Authorization, Bearer, <token>`
    isNextSecret = wasNamed ? SCHEME.test(protocol) : isCarrier(protocol, isSecret);
    if (wasNamed) return isNextSecret ? protocol : HIDDEN;
    const parts = protocol.split(/([._:=])/);
    const name = parts.findIndex((_, at) => at % 2 === 0 && isCarrier(parts.slice(0, at + 1).join(''), isSecret));
    if (name >= 0 && name < parts.length - 1) return parts.slice(0, name + 2).join('') + HIDDEN;
    return looksRandom(protocol) ? HIDDEN : redactText(protocol, isSecret, shortly);
  };
}

/** Between the name of a field and the credentials. */
const SCHEME = /^(?:bearer|basic|token|jwt)$/i;

const isCarrier = (protocol: string, isSecret: IsSecretName): boolean =>
  isSecret(protocol) || /(?:^|[._-])bearer$/i.test(protocol);

/** A long run of letters and digits, which no registered subprotocol has. */
const looksRandom = (protocol: string): boolean =>
  protocol.split(/[.:]/).some((run) => run.length >= 20 && /\d/.test(run) && /[A-Za-z]/.test(run));

/** Forms of secrets, redacted everywhere. Each pattern takes time linear in the text. */
const FORMS: readonly { pattern: RegExp; kept: number }[] = [
  // Not the displayed prefix: entries of a snapshot are already redacted.
  { pattern: /\bviv_[0-9A-Za-z]{4,}(?!…)/g, kept: PREFIX_LENGTH },
  // JSON Web Tokens (RFC 7519).
  { pattern: /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, kept: 0 },
  { pattern: /(?<=\bBearer )[\w.~+/-]{16,}=*/gi, kept: 0 },
  // Prefixes by which vendors let scanners find their secrets.
  {
    pattern:
      /\b(?:gh[oprsu]_|github_pat_|glpat-|[rs]k_(?:live|test)_|xox[abeoprs]-|sk-(?:ant|proj)-|AKIA|ASIA|AIza|npm_|hvs\.)[\w-]{12,}/g,
    kept: 4,
  },
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, kept: 0 },
  // RFC 3986 §3.2.1.
  { pattern: /(?<=:\/\/)[^\s/?#@"'<>\\]{1,1000}(?=@)/g, kept: 0 },
];

/** `?name=value`, `#name=value`, `name="value"`: in URLs, forms, and parameters of header fields. */
const PARAMETER = /(^|[?#&;,]\s?)([^?#&;,=\s"'<>{}]{1,200})=("[^"]{0,4000}"|[^&#;,\s"'<>\\]+)/g;

function redactText(text: string, isSecret: IsSecretName, hide: Hide): string {
  let redacted = text;
  for (const { pattern, kept } of FORMS) redacted = redacted.replace(pattern, (secret) => hide(secret, kept));
  if (!redacted.includes('=')) return redacted;
  // An authorization code (RFC 6749 §4.1.2, §4.1.3) has a common name, but one of these beside it.
  const isOAuth = /(?:^|[?#&])(?:state|grant_type|client_id|redirect_uri)=/.test(redacted);
  return redacted.replace(PARAMETER, (all, before: string, name: string, value: string, at: number) => {
    const plain = percentDecoded(name);
    const isCommon = (plain === 'code' && isOAuth) || (plain === 'key' && isInQuery(redacted, at, before));
    if (!isCommon && !isSecret(plain)) return all;
    // One of our keys is already shortened to its prefix.
    return value.endsWith(HIDDEN) ? all : `${before}${name}=${hide(value)}`;
  });
}

/** Whether the parameter at `at` is in the query of a URL: `key` is an API key there, but in a form often none. */
const isInQuery = (text: string, at: number, before: string): boolean =>
  before.length === 1 && /\?[^\s"'<>?]*$/.test(text.slice(Math.max(0, at - 2_000), at + 1));

/** A field of multipart/form-data (RFC 7578 §4.2): its head, and its value. */
const FORM_FIELD = /(form-data;[^\r\n]{1,1000}\r?\n(?:[^\r\n]{1,500}\r?\n){0,10}\r?\n)([\s\S]*?)(?=\r?\n--|$)/g;
const FORM_FIELD_NAME = /[; ]name="?([^";\r\n]*)/;

/** `<wsse:Password Type="…">secret</wsse:Password>`; possibly without its end, if the body was cut. */
const ELEMENT = /(<(?:[\w.-]{1,100}:)?([\w.-]{1,100})(?:\s[^<>]{0,1000})?>)([^<>]{1,4000})(?=<|$)/g;

/**
 * `password: "secret"`, an argument in GraphQL. Within JSON, its quotation marks are escaped, like those of JSON in JSON.
 * Groups: the name, all of it up to the value, the quotation mark, the value.
 */
const ARGUMENT =
  /(?<![\w-])([\w-]{1,200})((?:\\{1,9}")?(?:\s|\\{1,9}[nrt]){0,20}:(?:\s|\\{1,9}[nrt]){0,20}((?:\\{0,9}"){3}|\\{0,9}"))([^]{1,4000}?)(?=(?<!\\)\3|$)/g;

function redactArguments(text: string, isSecret: IsSecretName, hide: Hide): string {
  if (!text.includes(':')) return text;
  return text.replace(ARGUMENT, (_all, name: string, middle: string, _mark: string, value: string) => {
    const isHidden = isSecret(name) && !value.endsWith(HIDDEN);
    return name + middle + (isHidden ? hide(value) : redactArguments(value, isSecret, hide));
  });
}

/** The end of a string in JSON; a quotation mark in other text is part of the secret. */
const STRING_END = /(?<!\\)"(?=\s*(?:[,}\]]|$))/;

function redactBody(text: string, isSecret: IsSecretName, hide: Hide): string {
  const plain = redactText(text, isSecret, hide);
  const isJson = /^\s*[[{]/.test(plain);
  const elements = plain.replace(ELEMENT, (all: string, head: string, name: string, value: string, at: number) => {
    // Without an end tag in JSON, it ends with its string: `"Send Bearer <API_KEY>."`.
    const end = isJson && at + all.length === plain.length ? value.search(STRING_END) : -1;
    const secret = end < 0 ? value : value.slice(0, end);
    return isSecret(name) && secret.trim() !== '' ? head + hide(secret) + value.slice(secret.length) : all;
  });
  const members = redactJson(redactArguments(elements, isSecret, hide), isSecret, hide);
  if (!members.includes('form-data')) return members;
  return members.replace(FORM_FIELD, (all, head: string, value: string) =>
    isSecret(FORM_FIELD_NAME.exec(head)?.[1] ?? '') ? head + hide(value) : all,
  );
}
