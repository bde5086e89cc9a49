import { describe, expect, it } from 'vitest';
import { createEntryIds } from '../../../main/traffic/entry.ts';
import { toHar } from '../../../main/traffic/har.ts';
import { presentDetail } from '../../../main/traffic/present.ts';
import { createRedactor, createRedactors } from '../../../main/traffic/redact.ts';
import { entry, presentationOf, record, REDACTOR } from '../../support/traffic-entries.ts';

/** A secret without a recognisable form: only its place shows that it is one. */
const PLANTED = 'hunter2butlonger';
const TOKEN_FORM = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${PLANTED}`;

interface Place {
  /** Names and values in turn. */
  request?: string[];
  response?: string[];
  target?: string;
  body?: string | Buffer;
}

const field = (name: string, value = PLANTED): Place => ({ request: [name, value] });
/** The same by the names of the fields. */
const fields = (...names: string[]): Record<string, Place> =>
  Object.fromEntries(names.map((name) => [name, field(name)]));
const answered = (name: string, value: string): Place => ({ response: [name, value] });
const target = (text: string): Place => ({ target: text });
const protocol = (text: string): Place => field('Sec-WebSocket-Protocol', text);
const graphql = (query: string): Place => body(JSON.stringify({ query }));
const body = (content: string | Buffer): Place => ({ body: content });
const form = (name: string, more = ''): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${PLANTED}\r\n--b--\r\n`;

/** The places of the audit of November 2026. */
const AUDITED: Record<string, Place> = {
  ...fields('X-API-Key', 'X-Auth-Token', 'Api-Key', 'apikey', 'X-Access-Token', 'Private-Token', 'X-Vault-Token'),
  ...fields('X-Amz-Security-Token', 'X-Goog-Api-Key', 'Ocp-Apim-Subscription-Key', 'X-XSRF-Token', 'X-Session-Id'),
  ...fields('X-Refresh-Token'),
  Authorization: field('Authorization', `Bearer ${PLANTED}`),
  Cookie: field('Cookie', `sid=${PLANTED}`),
  'Set-Cookie': answered('Set-Cookie', `sid=${PLANTED}; HttpOnly`),
  '?access_token': target(`/v1/pets?access_token=${PLANTED}&limit=1`),
  '?api_key': target(`/v1/pets?limit=1&api_key=${PLANTED}`),
  '?sig': target(`/v1/pets?sv=2024&sig=${PLANTED}`),
  'X-Hub-Signature-256': field('X-Hub-Signature-256', `sha256=${PLANTED}`),
  'Authentication-Info': answered('Authentication-Info', `rspauth="${PLANTED}"`),
  'X-Forwarded-Authorization': field('X-Forwarded-Authorization', `Basic ${PLANTED}`),
  'user information of Referer': field('Referer', `http://anna:${PLANTED}@demo.test/`),
  'fragment of Location': answered('Location', `https://app.test/#access_token=${PLANTED}&expires_in=3600`),
  'member password': body(`{"user":"anna","password":"${PLANTED}"}`),
  'member access_token': body(`{ "access_token" : "${PLANTED}" }`),
  'Sec-WebSocket-Protocol': field('Sec-WebSocket-Protocol', `vivarium, token.${PLANTED}`),
};

const OTHERS: Record<string, Place> = {
  ...fields('DD-APPLICATION-KEY', 'CF-Access-Client-Secret', 'Cf-Access-Jwt-Assertion', 'X-Shopify-Access-Token'),
  ...fields('x-functions-key', 'X-ZUMO-AUTH', 'X-Plex-Token', 'X-Parse-Master-Key'),
  'Kubernetes over WebSocket': protocol(`base64url.bearer.authorization.k8s.io.${PLANTED}, base64.binary.k8s.io`),
  'a protocol after its name': protocol(`graphql-ws, access_token, ${PLANTED}`),
  'a protocol after two names': protocol(`Authorization, Bearer, ${PLANTED}`),
  'a key as protocol': protocol(`realtime, openai-insecure-api-key.${PLANTED}`),
  'Stripe-Signature': field('Stripe-Signature', `t=1,v1=${PLANTED}`),
  'Proxy-Authorization': field('Proxy-Authorization', `Basic ${PLANTED}`),
  'a token in a field of another name': field('X-Amzn-Oidc-Data', TOKEN_FORM),
  'a bearer in a field of another name': field('X-Original-Headers', `Authorization: Bearer ${PLANTED}`),
  '?X-Amz-Signature': target(`/o?X-Amz-Date=20261122&X-Amz-Signature=${PLANTED}`),
  'a percent-encoded name': target(`/v1/pets?access%5Ftoken=${PLANTED}`),
  'a name in brackets': target(`/v1/pets?user[password]=${PLANTED}`),
  'the code of an authorization response': target(`/callback?code=${PLANTED}&state=xyz`),
  'a parameter in Link': answered('Link', `<https://a.test/?client_secret=${PLANTED}>; rel="next"`),
  clientSecret: body(`{"clientSecret":"${PLANTED}"}`),
  'the names of an array': body(`{"apiKeys":["x","${PLANTED}"],"n":1}`),
  'a cut member': body(`{"name":"Rex","refreshToken":"${PLANTED}`),
  'a member cut in an escape': body(`{"password":"${PLANTED}\\`),
  'a second line of JSON': body(`{"a":1}\n{"privateKey":"${PLANTED}"}\n`),
  'a form': body(`grant_type=password&username=anna&password=${PLANTED}`),
  'the first field of a form': body(`password=${PLANTED}&username=anna`),
  'a multipart form': body(form('password')),
  'a multipart form with bytes': body(Buffer.concat([Buffer.from(form('api_key')), Buffer.of(0xff, 0xfe)])),
  'a private key': body(
    JSON.stringify({ pem: `-----BEGIN PRIVATE KEY-----\n${PLANTED}\n-----END PRIVATE KEY-----\n` }),
  ),
  'an element of XML': body(`<login><user>anna</user><password>${PLANTED}</password></login>`),
  'an element of SOAP': body(`<wsse:Token><wsse:Password Type="#PasswordText">${PLANTED}</wsse:Password></wsse:Token>`),
  'a cut element': body(`<login><password>${PLANTED}`),
  'a cut element in text that begins like JSON': body(`[info] <password>"${PLANTED}"`),
  'user information of a URL in a body': body(`{"database":"postgres://app:${PLANTED}@db.test/app"}`),
};

const login = `mutation { login(user: "anna", password: "${PLANTED}") { id } }`;

const MORE: Record<string, Place> = {
  ...fields('Session', 'DPoP', 'X-Firebase-AppCheck', 'X-Auth-Key', 'X-Shopify-Hmac-Sha256', 'X-CSRF-Token'),
  'a protocol after its name that reads like one': protocol(`bearer, ${PLANTED}-token`),
  'a protocol after its name, in a field of its own': {
    request: ['Sec-WebSocket-Protocol', 'bearer', 'Sec-WebSocket-Protocol', PLANTED],
  },
  'a protocol that the server chose': {
    request: ['Sec-WebSocket-Protocol', `bearer, ${PLANTED}`],
    response: ['Sec-WebSocket-Protocol', PLANTED],
  },
  '?key, first': target(`/maps/api?key=${PLANTED}&address=x`),
  '?key, last': target(`/maps/api?address=x&key=${PLANTED}`),
  '?key of a Location': answered('Location', `https://maps.test/?a=b&key=${PLANTED}`),
  'the code of a token request': body(`grant_type=authorization_code&code=${PLANTED}&redirect_uri=x`),
  'the code of a token request, first': body(`code=${PLANTED}&client_id=app`),
  'the code of a token request in JSON': body(`{"grant_type":"authorization_code","code":"${PLANTED}"}`),
  'an argument in GraphQL': body(JSON.stringify({ query: login, variables: {} })),
  'an argument in GraphQL, indented': graphql(login.replace('password: ', 'password :\n  ')),
  'an argument in GraphQL, sent as text': body(login),
  'an argument in GraphQL, cut': body(JSON.stringify({ query: login }).replace(/(?<=butlonger).*/, '')),
  'an argument in GraphQL with a quotation mark': graphql(`{ login(password: "a\\"${PLANTED}", user: "x") { id } }`),
  'a block string in GraphQL': graphql(`{ login(password: """${PLANTED}""") { id } }`),
  'a member of JSON in JSON': body(JSON.stringify({ body: JSON.stringify({ password: PLANTED }) })),
  'an element of XML in JSON, without its end': body(JSON.stringify({ xml: `<login><password>${PLANTED}` })),
  '?id_token in a fragment': answered('Location', `https://app.test/#state=1&id_token=${PLANTED}`),
};

const SHOWN: Record<string, Place> = {
  'max_tokens, a number': body('{"max_tokens":100,"value":"hunter2butlonger"}'),
  'the place in a list': target(`/v1/pets?nextPageToken=${PLANTED}`),
  'a word that ends in one': field('X-Shipping', PLANTED),
  'what follows a placeholder in JSON': body(`{"message":"Send Bearer <API_KEY>.","value":"${PLANTED}"}`),
  'a category': body(`{"category":"${PLANTED}","author":"x"}`),
  'the code of a discount': target(`/v1/pets?code=${PLANTED}`),
  'the code of an error': body(`{"code":"${PLANTED}","status":400}`),
  'the key of a file in a form': body(`key=${PLANTED}&acl=private`),
  'the key of a pair': body(`{"key":"${PLANTED}","value":"x"}`),
  'the text of a question': body(`{"text":"a code? key=${PLANTED}"}`),
  'another argument in GraphQL': graphql(login.replace('password:', 'nickname:')),
  'an argument after a secret': graphql(`{ a(token: "x", b: "${PLANTED}") }`),
  'a protocol that the server chose among others': {
    request: ['Sec-WebSocket-Protocol', `bearer, abc, ${PLANTED}`],
    response: ['Sec-WebSocket-Protocol', PLANTED],
  },
  'a value beside a secret': target(`/v1/pets?token=abc&name=${PLANTED}`),
  'a member after a secret': body(`{"token":"abc","name":"${PLANTED}"}`),
  'a member after an array of secrets': body(`{"tokens":["abc"],"name":"${PLANTED}"}`),
  'a string that reads like a name': body(`["password","${PLANTED}"]`),
  'a subprotocol': field('Sec-WebSocket-Protocol', PLANTED),
  'a field of a form': body(form('name')),
  'an element after a secret': body(`<login><token>abc</token><user>${PLANTED}</user></login>`),
  'an element around others': body(`<credentials><user>${PLANTED}</user></credentials>`),
  'an attribute of a cookie': answered('Set-Cookie', `a=b; Path=/${PLANTED}`),
};

/** Further names of secrets, and names that only end like them. */
const NAMES = `jwt secrets passwords passwd passphrase passcode credential credentials samlresponse cookie appkey
  accesskey accountkey customerkey encryptionkey secretkey sessionkey sharedkey signingkey websocketkey sessid
  sessionstate codeverifier verificationcode recoverycode recoverycodes backupcode backupcodes otpcode securityanswer
  seedphrase mnemonic cardnumber usercode devicecode csrf xsrf cvc cvv hmac otp pass pwd sid totp`.split(/\s+/);
const HARMLESS =
  'cancellationtoken continuationtoken nexttoken pagetoken synctoken accesscontrolallowcredentials'.split(' ');

function planted(place: Place) {
  const chunks = place.body === undefined ? [] : [Buffer.from(place.body)];
  const recorded = { chunks, bytes: chunks.reduce((sum, { length }) => sum + length, 0) };
  const bodies = { requestBody: recorded, responseBody: recorded };
  const { target = '/v1/pets', request: requestFields = [], response: responseFields = [] } = place;
  return entry({ target, record: record({ ...bodies, requestFields, responseFields }) });
}

/** All that an entry exposes, base64 decoded. */
async function shownOf(place: Place, redactor = REDACTOR): Promise<string> {
  const kept = planted(place);
  const detail = presentDetail(kept, { ...presentationOf(createEntryIds(0)), redactor });
  const archive = await toHar([kept], redactor);
  const bytes = detail.requestBody?.encoding === 'base64' ? Buffer.from(detail.requestBody.text, 'base64') : '';
  return decodeURIComponent(JSON.stringify([detail, archive])) + bytes.toString('latin1');
}

describe('a planted secret', () => {
  it('is at 27 places of the audit and 60 others', () => {
    expect([Object.keys(AUDITED).length, Object.keys({ ...OTHERS, ...MORE }).length]).toEqual([27, 60]);
  });

  it.each(Object.entries({ ...AUDITED, ...OTHERS, ...MORE }))('is hidden: %s', async (_where, place) => {
    expect(await shownOf(place)).not.toContain(PLANTED);
  });

  it.each(Object.entries(SHOWN))('is not detected in %s', async (_where, place) => {
    expect(await shownOf(place)).toContain(PLANTED);
  });

  it('is hidden under each of these names, and not under those of places and permissions', () => {
    const isShown = (name: string) => REDACTOR.text(`/?${name}=${PLANTED}`).includes(PLANTED);
    expect([...NAMES, ...HARMLESS].filter(isShown)).toEqual(HARMLESS);
  });

  it('is hidden under a custom name, in all places', async () => {
    const redactor = createRedactor(['X-Customer-Ref']);
    const places = [
      field('x-customer-ref'),
      target(`/?xCustomerRef=${PLANTED}`),
      body(`{"x_customer_ref":"${PLANTED}"}`),
    ];
    for (const place of places) {
      expect(await shownOf(place)).toContain(PLANTED);
      expect(await shownOf(place, redactor)).not.toContain(PLANTED);
    }
  });

  it('follows the setting', () => {
    let names: string[] = [];
    const redactors = createRedactors(() => names);
    expect(redactors().text('/?ref=abc')).toBe('/?ref=abc');
    names = ['ref'];
    expect(redactors().text('/?ref=abc')).toBe('/?ref=…');
  });
});

describe('the text around a secret', () => {
  it.each([
    ['{"token":"abc", "pin": 1, "ok": true, "secret": null}', '{"token":"…", "pin": "…", "ok": true, "secret": null}'],
    ['{"tokens":["a","b"],"n":[1]}', '{"tokens":["…","…"],"n":[1]}'],
    ['{"credentials":{"user":"anna","password":"x"}}', '{"credentials":{"user":"anna","password":"…"}}'],
    ['data: {"token":"a\\"b"}\n\n', 'data: {"token":"…"}\n\n'],
    ['say "password" : to me', 'say "password" : to me'],
    ['{ login(token: "viv_0123456789abcdef") { id } }', '{ login(token: "viv_0123…") { id } }'],
    ['ghp_16C7e42F292c6912E7 npm_16C7e42F292c', 'ghp_… npm_…'],
  ])('%s', (text, shown) => {
    expect(REDACTOR.body(text)).toBe(shown);
  });

  it('keeps its length in bytes', () => {
    const bytes = Buffer.concat([Buffer.from(form('pin')), Buffer.from('{"pin":1234}'), Buffer.of(0xff)]);
    expect(REDACTOR.bytes(bytes)).toHaveLength(bytes.length);
  });
});

it.each([
  ['"'.repeat(500_000)],
  ['\\"'.repeat(250_000)],
  [`"${'\\a'.repeat(500_000)}`],
  ['eyJ-'.repeat(250_000)],
  ['://'.repeat(300_000)],
  ['?&'.repeat(500_000)],
  ['&a'.repeat(500_000)],
  ['='.repeat(1_000_000)],
  ['<a '.repeat(300_000)],
  ['<token>'.repeat(140_000)],
  [`<token ${'a '.repeat(500_000)}`],
  ['form-data; name="'.repeat(60_000)],
  ['-----BEGIN PRIVATE KEY-----'.repeat(40_000)],
  [`${'['.repeat(500_000)}"password":["x"`],
  ['password:"'.repeat(100_000)],
  [String.raw`a:\"`.repeat(200_000)],
  [`${'a'.repeat(500_000)}:"`],
  ['\\'.repeat(1_000_000)],
  [`/?${'&key=1'.repeat(100_000)}`],
  ['&key=1'.repeat(100_000)],
])('hostile text is read through: %.20s', (text) => {
  expect(REDACTOR.body(text).length).toBeLessThanOrEqual(text.length);
});
