import type { ApiExchange } from '../../../../main/contract/api.ts';
import { fillVariables } from '../../../../main/contract/http-file.ts';
import { prettyJson } from '../../../shared/traffic/json-text.ts';
import type { ApiContent, ApiOperation, ApiParameter } from '../api-document.ts';
import { checkResponse, type CheckOutcome } from './response-checks.ts';
import type { Draftable } from '../../../shared/session/drafts.svelte.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';
import {
  collectHeaders,
  fillPath,
  fillRequest,
  parameterKey,
  readMembers,
  type TrialRequest,
  withoutSecrets,
  writeBody,
} from './trial-request.ts';

export interface TrialOptions {
  /** Undefined for a custom request with any method and path. */
  operation: ApiOperation | undefined;
  send: (request: TrialRequest) => Promise<ApiExchange>;
  /** Values for `{{name}}` in a custom request. */
  variables: () => Readonly<Record<string, string>>;
}

/** Fields other than parameters and body members, named like the engine's input paths. */
interface TrialValues extends Record<string, unknown> {
  method: string;
  path: string;
  headers: string;
  body: string;
  /** Assertions about the response, one per line. */
  checks: string;
  keyId: string;
  secret: string;
}

export type BodyForm = 'fields' | 'text';

/** The trial of one operation: typed values and the last exchange. */
export class Trial {
  readonly form: Form<TrialValues, ApiExchange>;
  readonly parameters: readonly ApiParameter[];
  readonly content: ApiContent | undefined;
  /** By location and name, see `parameterKey`. */
  typed: Record<string, string> = $state({});
  /** Body members, by name. */
  fields: Record<string, string> = $state({});
  /** Variables without a value, because of which the request was not sent. */
  missing = $state.raw<readonly string[]>([]);
  readonly #variables: TrialOptions['variables'];
  #bodyForm = $state<BodyForm>('text');
  exchange = $state.raw<ApiExchange | undefined>(undefined);
  /** What its assertions found in the last response. */
  outcomes = $state.raw<readonly CheckOutcome[]>([]);
  readonly operation: ApiOperation | undefined;
  /** The typed values, sent or not, without headers that may contain a secret. */
  readonly draft: Draftable;
  /** Assertions about the response, as they were typed. */
  readonly checks = $derived.by(() => this.form.values.checks.split('\n').filter((line) => line.trim() !== ''));

  constructor({ operation, send, variables }: TrialOptions) {
    this.operation = operation;
    this.#variables = variables;
    const { parameters, body } = operation?.details() ?? { parameters: [], body: undefined };
    this.parameters = parameters;
    this.content = body;
    this.typed = Object.fromEntries(parameters.map((parameter) => [parameterKey(parameter), '']));
    const members = readMembers(body?.example);
    this.fields = Object.fromEntries((body?.schema.properties ?? []).map(({ name }) => [name, members?.[name] ?? '']));
    if (this.hasFields) this.#bodyForm = 'fields';
    this.form = new Form({
      values: {
        method: operation?.method ?? 'GET',
        path: operation?.path ?? '/',
        headers: '',
        body: prettyJson(body?.example ?? ''),
        checks: '',
        keyId: '',
        secret: '',
      },
      submit: async () => {
        this.exchange = undefined;
        const exchange = await send(this.request);
        const lines = this.checks.map((line) => fillVariables(line, this.#variables()).text);
        this.outcomes = checkResponse(lines, exchange.response);
        this.exchange = exchange;
        return this.exchange;
      },
    });
    this.draft = this.#draftFrom(JSON.stringify(this.#values));
  }

  /** Whether the body can be edited member by member. */
  get hasFields(): boolean {
    return (this.content?.schema.properties.length ?? 0) > 0;
  }

  get bodyForm(): BodyForm {
    return this.#bodyForm;
  }

  /** Switching to text copies the typed members; switching back does not, because not every text fits into fields. */
  set bodyForm(form: BodyForm) {
    if (form === 'text' && this.#bodyForm === 'fields') this.form.values.body = this.#fieldsText;
    this.#bodyForm = form;
  }

  /** The query of the page after the last response, to which it links (RFC 8288). */
  get next(): URLSearchParams | undefined {
    if (this.operation === undefined || this.exchange === undefined) return undefined;
    const { request, response } = this.exchange;
    const link = response.headers.find(({ name }) => name.toLowerCase() === 'link')?.value ?? '';
    const [, target] = /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(link) ?? [];
    return target === undefined ? undefined : URL.parse(target, request.url)?.searchParams;
  }

  /** Fills in the query of another page. */
  turnTo(page: URLSearchParams | undefined): void {
    for (const parameter of this.parameters) {
      if (parameter.in === 'query') this.typed[parameterKey(parameter)] = page?.get(parameter.name) ?? '';
    }
  }

  get request(): TrialRequest {
    return this.#filled.request;
  }

  get #filled(): { request: TrialRequest; missing: readonly string[] } {
    const { written } = this;
    return this.operation === undefined ? fillRequest(written, this.#variables()) : { request: written, missing: [] };
  }

  /** Replaces the typed values with a request. */
  show({ method, path, headers, body }: TrialRequest, checks: readonly string[] = []): void {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    this.form.values = {
      ...this.form.values,
      method,
      path,
      headers: lines.join('\n'),
      body: body ?? '',
      checks: checks.join('\n'),
    };
    this.exchange = undefined;
    this.missing = [];
  }

  /** The request as it was typed, with its variables. */
  get written(): TrialRequest {
    const { method, path, headers } = this.form.values;
    const body = this.#bodyForm === 'fields' ? this.#fieldsText : this.form.values.body;
    const sent = body === '' && this.#bodyForm === 'text' ? undefined : body;
    const mediaType = this.content?.mediaType ?? 'application/json';
    return {
      method,
      path: this.operation === undefined ? path : fillPath(this.operation.path, this.parameters, this.typed),
      headers: collectHeaders(this.parameters, { parameters: this.typed, body: sent, mediaType, headers }),
      ...(sent !== undefined && { body: sent }),
    };
  }

  async send(): Promise<void> {
    this.missing = this.#filled.missing;
    if (this.missing.length === 0) await this.form.submit();
  }

  /** Everything typed, as JSON. */
  get #values() {
    const { method, path, headers, body, checks } = $state.snapshot(this.form.values);
    return {
      own: { method, path, headers: withoutSecrets(headers), body, checks },
      parameters: $state.snapshot(this.typed),
      fields: $state.snapshot(this.fields),
      bodyForm: this.#bodyForm,
    };
  }

  #draftFrom(untouched: string): Draftable {
    const typed = () => {
      const values = this.#values;
      return JSON.stringify(values) === untouched ? undefined : values;
    };
    return {
      get typed() {
        return typed();
      },
      restore: (kept) => {
        const { own, parameters, fields, bodyForm } = kept as Partial<Record<string, unknown>>;
        this.form.values = { ...this.form.values, ...textsOf(this.#values.own, own) };
        this.typed = textsOf(this.typed, parameters);
        this.fields = textsOf(this.fields, fields);
        if (this.hasFields && (bodyForm === 'fields' || bodyForm === 'text')) this.#bodyForm = bodyForm;
      },
    };
  }

  get #fieldsText(): string {
    return writeBody(this.content?.schema.properties ?? [], this.fields);
  }
}

/** `into` with the texts of `kept` that have a place there. */
function textsOf<Texts extends Record<string, string>>(into: Texts, kept: unknown): Texts {
  if (typeof kept !== 'object' || kept === null) return into;
  const fitting = Object.entries(kept).filter(([name, value]) => name in into && typeof value === 'string');
  return { ...into, ...Object.fromEntries(fitting) };
}
