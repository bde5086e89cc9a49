/**
 * Names of header fields, parameters, JSON members, XML elements and form fields whose values are secret. One table for
 * all places: the same secret travels as `X-Api-Key`, `?api_key=` and `"apiKey":`. Names are compared in lower case,
 * without separators and without digits at the end (`X-Hub-Signature-256`).
 */

const words = (text: string): string[] => text.trim().split(/\s+/);

/** A name is secret if it ends in one of these. */
const ENDINGS = words(`
  token tokens jwt secret secrets password passwords passwd passphrase passcode credential credentials authorization
  authenticationinfo assertion samlresponse signature cookie apikey apikeys appkey applicationkey accesskey accountkey
  authkey customerkey encryptionkey functionskey masterkey privatekey secretkey sessionkey sharedkey signingkey
  subscriptionkey websocketkey appcheck dpop hmacsha sessionid sessid sessionstate codeverifier verificationcode
  recoverycode recoverycodes backupcode backupcodes otpcode securityanswer seedphrase mnemonic cardnumber usercode
  devicecode
`);

/** A name is secret if its last word is one of these, which are too short to search for within words. */
const LAST_WORDS: ReadonlySet<string> = new Set(
  words('auth csrf xsrf cvc cvv hmac otp pass pin pwd session sid sig totp'),
);

/** Names with such an ending whose values are only positions in lists or permissions of a request. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...words('cancellationtoken continuationtoken nextpagetoken nexttoken pagetoken synctoken'),
  'accesscontrolallowcredentials',
]);

/** Names cached with their verdict; clients choose the names, so the number is bounded. */
const CACHED_MAX = 1000;

export const HIDDEN = '…';

export type IsSecretName = (name: string) => boolean;

/** The rule for secret names: the table above, and the user's `own` names. */
export function secretNames(own: readonly string[]): IsSecretName {
  const owned = new Set(own.map(joined));
  const cached = new Map<string, boolean>();
  return (name) => {
    const known = cached.get(name);
    if (known !== undefined) return known;
    const verdict = owned.has(joined(name)) || isListed(name);
    if (cached.size >= CACHED_MAX) cached.clear();
    cached.set(name, verdict);
    return verdict;
  };
}

function isListed(name: string): boolean {
  const plain = joined(name);
  if (HARMLESS.has(plain)) return false;
  return LAST_WORDS.has(lastWord(name)) || ENDINGS.some((ending) => plain.endsWith(ending));
}

const joined = (name: string): string => {
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  return plain.replace(/\p{N}+$/u, '') || plain;
};

/** `xAuth`, `X-Auth`, `user[auth]`: the last word is `auth`. */
const lastWord = (name: string): string =>
  (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu)?.at(-1) ?? '').toLowerCase();
