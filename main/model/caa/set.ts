import {
  type CaaRecord,
  forbidsIssuance,
  formatIssueValue,
  isCriticalByMistake,
  isSupported,
  type IssueParameter,
  type IssueValue,
  parseIssueValue,
  propertyOf,
} from './value.ts';

/** The CA that wants to issue, and how it validated the request. */
export interface CaaIssuer {
  /** The CA's domain name in CAA records: `letsencrypt.org`. */
  readonly issuer: string;
  /** The validation method's label (RFC 8657 §4): `http-01`. */
  readonly method: string;
  /** The account's URI (RFC 8657 §3); null without an account. */
  readonly accountUri: string | null;
}

/** The evaluation of one `issue` or `issuewild` record for one issuer. */
export interface PropertyEvaluation {
  readonly record: CaaRecord;
  readonly authorises: boolean;
  /** Completes the sentence "This record …". */
  readonly reason: string;
  /** Edits of this record's value that would make it authorise its issuer. */
  readonly edits: readonly string[];
  /** The value after these edits; unchanged if there are none. */
  readonly corrected: string;
  /** Where Let’s Encrypt would decide differently. */
  readonly warnings: readonly string[];
}

/**
 * Let’s Encrypt’s software, Boulder, is stricter than the RFCs in some points (its va/caa.go). Under this identity a
 * verdict follows them; under any other one a warning names them.
 */
const STRICT_ISSUER = 'letsencrypt.org';

const isStrict = ({ issuer }: CaaIssuer): boolean => issuer.toLowerCase() === STRICT_ISSUER;

/** One unmet condition, with the edit that meets it. */
interface ConditionFault {
  reason: string;
  edit: string;
  parameter: 'accounturi' | 'validationmethods';
  /** The parameter's value after the edit; null: removed. */
  becomes: string | null;
}

/** A value after the edits: each wrong parameter is replaced once, or removed. */
function correct({ issuer, parameters }: IssueValue, faults: readonly ConditionFault[]): IssueValue {
  const wrong = (tag: string) => faults.some(({ parameter }) => parameter === tag.toLowerCase());
  const right = faults.flatMap(({ parameter, becomes }) =>
    becomes === null ? [] : [{ tag: parameter, value: becomes }],
  );
  return { issuer, parameters: [...parameters.filter(({ tag }) => !wrong(tag)), ...right] };
}

/** RFC 8657 §4: a label of `validationmethods`. */
const METHOD_LABEL = /^[0-9a-z-]+$/i;

/** Evaluates one property by its value (RFC 8659 §4.2, RFC 8657 §3 and §4). */
export function evaluateProperty(record: CaaRecord, issuer: CaaIssuer): PropertyEvaluation {
  const parsed = parseIssueValue(record.value);
  const refuse = (reason: string): PropertyEvaluation => ({
    record,
    authorises: false,
    reason,
    edits: [],
    corrected: record.value,
    warnings: [],
  });
  if (!parsed.ok) return refuse(`authorises no CA, because its value is malformed: ${parsed.fault}`);
  const { value } = parsed;
  const strict = isStrict(issuer);
  const hyphened = strict ? value.parameters.find(({ tag }) => tag.includes('-')) : undefined;
  if (hyphened !== undefined) {
    return refuse(
      `authorises no CA, because Let’s Encrypt treats a value as malformed if a parameter has a hyphen: "${hyphened.tag}"`,
    );
  }
  if (value.issuer === '') return refuse('authorises no CA: it names none');
  if (value.issuer.toLowerCase() !== issuer.issuer.toLowerCase()) return refuse(`authorises ${value.issuer} only`);
  const faults = conditionFaults(value, issuer);
  const reasons = faults.map(({ reason }) => reason);
  const edits = faults.map(({ edit }) => edit);
  let right = correct(value, faults);
  if (strict && value.issuer !== STRICT_ISSUER) {
    reasons.unshift(`spells it "${value.issuer}", while Let’s Encrypt compares it letter by letter`);
    edits.unshift(`write ${STRICT_ISSUER} in lower case`);
    right = { ...right, issuer: STRICT_ISSUER };
  }
  return {
    record,
    authorises: edits.length === 0,
    reason:
      reasons.length === 0 ? `authorises ${issuer.issuer}` : `names ${issuer.issuer}, and ${reasons.join('; and ')}`,
    edits,
    corrected: edits.length === 0 ? record.value : formatIssueValue(right),
    warnings: spellingWarnings(value, strict),
  };
}

function conditionFaults({ parameters }: IssueValue, issuer: CaaIssuer): ConditionFault[] {
  const strict = isStrict(issuer);
  const account = accountFault(valuesOf(parameters, 'accounturi', strict), issuer.accountUri);
  const method = methodFault(valuesOf(parameters, 'validationmethods', strict), issuer.method);
  return [account, method].filter((fault) => fault !== null);
}

/**
 * Parameter names are case-insensitive, like property tags: the RFCs do not specify this, but otherwise an intended
 * restriction could be lost.
 */
const valuesOf = (parameters: readonly IssueParameter[], name: string, strict: boolean): string[] =>
  parameters.filter(({ tag }) => (strict ? tag : tag.toLowerCase()) === name).map(({ value }) => value);

/** RFC 8657 §3. URIs are compared literally (§5.1: no normalisation that an attacker could exploit). */
function accountFault(uris: readonly string[], accountUri: string | null): ConditionFault | null {
  const [uri] = uris;
  if (uri === undefined) return null;
  const right = accountUri === null ? 'remove accounturi' : `set accounturi to ${accountUri}, or remove it`;
  const fault = { parameter: 'accounturi', becomes: accountUri } as const;
  if (uris.length > 1) {
    return {
      ...fault,
      reason: 'has accounturi more than once, which no request can satisfy',
      edit: `keep one accounturi: ${right}`,
    };
  }
  if (uri === accountUri) return null;
  const asked = accountUri === null ? 'this request comes from no account' : `this request comes from ${accountUri}`;
  return { ...fault, reason: `restricts it to the account ${uri === '' ? '""' : uri}, while ${asked}`, edit: right };
}

/** RFC 8657 §4: a list without the method, an empty list or a malformed one authorises nothing. */
function methodFault(lists: readonly string[], method: string): ConditionFault | null {
  const [list] = lists;
  if (list === undefined) return null;
  const fault = { parameter: 'validationmethods', becomes: method } as const;
  if (lists.length > 1) {
    return {
      ...fault,
      reason: 'has validationmethods more than once, which no request can satisfy',
      edit: `keep one validationmethods, with ${method} in it`,
    };
  }
  const labels = list === '' ? [] : list.split(',');
  const wrong = labels.find((label) => !METHOD_LABEL.test(label));
  if (wrong !== undefined) {
    return {
      ...fault,
      reason: `its validationmethods is malformed at "${wrong}": labels of letters, digits and hyphens are joined by commas, without blanks`,
      edit: `write validationmethods=${method}`,
    };
  }
  if (labels.includes(method)) return null;
  const spelled = labels.find((label) => label.toLowerCase() === method.toLowerCase());
  if (spelled !== undefined) {
    return {
      ...fault,
      becomes: labels.map((label) => (label === spelled ? method : label)).join(','),
      reason: `its validationmethods has "${spelled}"; labels are compared as they are written`,
      edit: `write ${method} instead of ${spelled}`,
    };
  }
  const allowed = labels.length === 0 ? 'no validation method at all' : `validation by ${labels.join(', ')}`;
  return {
    ...fault,
    becomes: [...labels, method].join(','),
    reason: `allows ${allowed}, while this request was validated by ${method}`,
    edit: `add ${method} to validationmethods, or remove validationmethods`,
  };
}

function spellingWarnings({ issuer, parameters }: IssueValue, strict: boolean): string[] {
  const warnings: string[] = [];
  if (!strict && issuer !== issuer.toLowerCase()) {
    warnings.push(
      `The issuer "${issuer}" is not in lower case. Here case does not matter; Let’s Encrypt compares it letter by letter, and would not recognise its name.`,
    );
  }
  for (const { tag } of parameters) {
    if (tag.includes('-')) {
      warnings.push(
        `The parameter "${tag}" has a hyphen, which RFC 8659 allows. Let’s Encrypt treats the whole value as malformed, and would not issue.`,
      );
    }
    const lower = tag.toLowerCase();
    if (tag !== lower && (lower === 'accounturi' || lower === 'validationmethods')) {
      warnings.push(
        strict
          ? `Let’s Encrypt ignores the parameter "${tag}" in this spelling, so its restriction is lost; write it in lower case.`
          : `The parameter "${tag}" counts as ${lower} here. Let’s Encrypt ignores it in this spelling, so the restriction would be lost; write it in lower case.`,
      );
    }
  }
  return warnings;
}

/** The result of a CAA record set for one request. */
export type SetEvaluation = { warnings: readonly string[] } & (
  | { kind: 'unrestricted' }
  | { kind: 'authorised'; tag: GoverningTag; by: readonly PropertyEvaluation[]; others: readonly PropertyEvaluation[] }
  | { kind: 'unauthorised'; tag: GoverningTag; properties: readonly PropertyEvaluation[] }
  /** Unsupported critical properties. `alone`: the set has no others; `rest`: the result without them. */
  | { kind: 'critical'; records: readonly CaaRecord[]; alone: boolean; rest: SetEvaluation }
);

export type GoverningTag = 'issue' | 'issuewild';

/** Evaluates a set that is not empty (RFC 8659 §4). */
export function evaluateSet(records: readonly CaaRecord[], issuer: CaaIssuer, wildcard: boolean): SetEvaluation {
  const critical = records.filter((record) => forbidsIssuance(record) || (isStrict(issuer) && isMistaken(record)));
  if (critical.length === 0) return evaluateGoverning(records, issuer, wildcard);
  const others = records.filter((record) => !critical.includes(record));
  return {
    kind: 'critical',
    records: critical,
    alone: others.length === 0,
    rest: evaluateGoverning(others, issuer, wildcard),
    warnings: [],
  };
}

function evaluateGoverning(records: readonly CaaRecord[], issuer: CaaIssuer, wildcard: boolean): SetEvaluation {
  const mistaken = mistakenWarnings(records);
  const tag = governingTag(records, wildcard);
  const properties = records
    .filter((record) => propertyOf(record) === tag)
    .map((record) => evaluateProperty(record, issuer));
  if (properties.length === 0) return { kind: 'unrestricted', warnings: mistaken };
  const warnings = [...mistaken, ...properties.flatMap((property) => property.warnings)];
  const by = properties.filter(({ authorises }) => authorises);
  if (by.length === 0) return { kind: 'unauthorised', tag, properties, warnings };
  // One record that authorises without warnings is enough (RFC 8659 §4.2: records add up).
  const plain = by.some((property) => property.warnings.length === 0);
  const others = properties.filter(({ authorises }) => !authorises);
  return { kind: 'authorised', tag, by, others, warnings: plain ? mistaken : warnings };
}

/** RFC 8659 §4.3: for a wildcard, any `issuewild` replaces every `issue`; for other names it is ignored. */
export const governingTag = (records: readonly CaaRecord[], wildcard: boolean): GoverningTag =>
  wildcard && records.some((record) => propertyOf(record) === 'issuewild') ? 'issuewild' : 'issue';

function mistakenWarnings(records: readonly CaaRecord[]): string[] {
  return records
    .filter(isMistaken)
    .map(
      ({ flags, tag }) =>
        `The unknown property "${tag}" has the flags ${flags}. The critical flag is 128, so it is ignored here; Let’s Encrypt treats 1 as critical as well, and would not issue.`,
    );
}

const isMistaken = (record: CaaRecord): boolean => !isSupported(record) && isCriticalByMistake(record);
