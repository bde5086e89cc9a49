import { DEFAULT_SETTINGS } from '../../../../main/contract/default-settings.ts';
import type { Settings } from '../../../../main/contract/settings.ts';
import type { Client } from '../../../connection/transport.ts';
import { joinDuration, sameDuration, splitDuration } from '../../../shared/time/typed-duration.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';
import type { Toasts } from '../../../shared/session/toasts.svelte.ts';
import type { SettingsSource } from '../../../shared/session/settings-query.ts';
import { readCount } from '../../../shared/controls/typed-count.ts';

type SettingsPatch = Parameters<Client['settings']['update']>[0];

/** A group of settings as form fields. All values are texts. */
interface SettingsShape<Values extends Record<string, string>> {
  /** The group as the subject of a sentence: "The ban rule". */
  what: string;
  /** The fields, named by the engine's input paths. */
  read: (settings: Settings) => Values;
  write: (values: Values) => SettingsPatch;
}

/** One group of settings: saved values, typed values, saving and undo. */
export class SettingsGroup<Values extends Record<string, string> = Record<string, string>> {
  readonly form: Form<Values, Settings>;
  #saved: Values = $state.raw() as Values;
  readonly #shape: SettingsShape<Values>;
  readonly #client: Client;
  readonly #toasts: Toasts;

  constructor(shape: SettingsShape<Values>, { client, toasts }: { client: Client; toasts: Toasts }) {
    this.#shape = shape;
    this.#client = client;
    this.#toasts = toasts;
    this.#saved = shape.read(DEFAULT_SETTINGS);
    this.form = new Form({
      values: this.#saved,
      submit: (values) => client.settings.update(shape.write(values)),
    });
  }

  /** Whether the typed values differ from the saved ones. */
  get changed(): boolean {
    return !this.#equal(this.form.values, this.#saved);
  }

  get isDefault(): boolean {
    return this.#equal(this.form.values, this.#shape.read(DEFAULT_SETTINGS));
  }

  /** Takes over the saved values, except while the user is editing. */
  adopt(settings: Settings): void {
    const wasChanged = this.changed;
    this.#saved = this.#shape.read(settings);
    if (!wasChanged) this.form.reset(this.#saved);
  }

  discard(): void {
    this.form.reset(this.#saved);
  }

  fillDefaults(): void {
    this.form.reset(this.#shape.read(DEFAULT_SETTINGS));
  }

  async save(): Promise<void> {
    const before = this.#shape.write(this.#saved);
    const settings = await this.form.submit();
    if (settings === undefined) return;
    this.#accept(settings);
    this.#toasts.done({
      text: `${this.#shape.what}: saved.`,
      undo: async () => this.#accept(await this.#client.settings.update(before)),
      undone: `${this.#shape.what}: as before.`,
    });
  }

  #accept(settings: Settings): void {
    this.#saved = this.#shape.read(settings);
    this.form.reset(this.#saved);
  }

  #equal(one: Values, other: Values): boolean {
    return Object.keys(other).every((name) => (one[name] ?? '').trim() === (other[name] ?? '').trim());
  }
}

/** A duration in its typed form, so 600 seconds and ten minutes compare equal. */
const typedDuration = (text: string): string => joinDuration(splitDuration(text));

const BANS: SettingsShape<{ banAfter: string; banDuration: string }> = {
  what: 'Bans',
  read: ({ banAfter, banDuration }) => ({ banAfter: String(banAfter), banDuration: typedDuration(banDuration) }),
  // An omitted value would mean no change; an empty one is sent for the engine to refuse.
  write: ({ banAfter, banDuration }) => ({ banAfter: readCount(banAfter) ?? Number.NaN, banDuration }),
};

const WAITING: SettingsShape<{ propagation: string; issuanceDelay: string }> = {
  what: 'Waiting',
  read: ({ propagation, issuanceDelay }) => ({
    propagation: typedDuration(propagation),
    issuanceDelay: typedDuration(issuanceDelay),
  }),
  write: (values) => values,
};

const RESOLVER: SettingsShape<{ kind: string; resolver: string }> = {
  what: 'Resolver',
  read: ({ resolver }) =>
    resolver === 'local' ? { kind: 'local', resolver: '' } : { kind: 'other', resolver: resolver },
  write: ({ kind, resolver }) => ({ resolver: kind === 'local' ? 'local' : resolver.trim() }),
};

const CAA_IDENTITY: SettingsShape<
  Record<'caaIdentity.domain' | 'caaIdentity.accountUri' | 'caaIdentity.method', string>
> = {
  what: 'CAA identity',
  read: ({ caaIdentity: { domain, accountUri, method } }) => ({
    'caaIdentity.domain': domain,
    'caaIdentity.accountUri': accountUri ?? '',
    'caaIdentity.method': method,
  }),
  write: (values) => {
    const accountUri = values['caaIdentity.accountUri'].trim();
    return {
      caaIdentity: {
        domain: values['caaIdentity.domain'].trim(),
        accountUri: accountUri === '' ? null : accountUri,
        method: values['caaIdentity.method'].trim(),
      },
    };
  },
};

const CORS: SettingsShape<{ kind: string; cors: string }> = {
  what: 'CORS',
  read: ({ cors }) => ({
    kind: cors === '*' ? 'any' : cors.length === 0 ? 'none' : 'list',
    cors: cors === '*' ? '' : cors.join('\n'),
  }),
  write: ({ kind, cors }) => ({ cors: kind === 'any' ? '*' : kind === 'none' ? [] : linesOf(cors) }),
};

const yesNo = (on: boolean): string => (on ? 'yes' : 'no');

const ANSWERS: SettingsShape<{ rateLimitFields: string; serverTiming: string }> = {
  what: 'Header fields of answers',
  read: ({ rateLimitFields, serverTiming }) => ({
    rateLimitFields: yesNo(rateLimitFields),
    serverTiming: yesNo(serverTiming),
  }),
  write: ({ rateLimitFields, serverTiming }) => ({
    rateLimitFields: rateLimitFields === 'yes',
    serverTiming: serverTiming === 'yes',
  }),
};

const DNS: SettingsShape<{ httpsRecords: string; dohForwardsProbe: string }> = {
  what: 'DNS answers',
  read: ({ httpsRecords, dohForwardsProbe }) => ({
    httpsRecords: yesNo(httpsRecords),
    dohForwardsProbe: yesNo(dohForwardsProbe),
  }),
  write: ({ httpsRecords, dohForwardsProbe }) => ({
    httpsRecords: httpsRecords === 'yes',
    dohForwardsProbe: dohForwardsProbe === 'yes',
  }),
};

const TRUSTED_PROXIES: SettingsShape<{ trustedProxies: string }> = {
  what: 'Trusted proxies',
  read: ({ trustedProxies }) => ({ trustedProxies: trustedProxies.join('\n') }),
  write: ({ trustedProxies }) => ({ trustedProxies: linesOf(trustedProxies) }),
};

const SECRET_NAMES: SettingsShape<{ secretNames: string }> = {
  what: 'Secret names',
  read: ({ secretNames }) => ({ secretNames: secretNames.join('\n') }),
  write: ({ secretNames }) => ({ secretNames: linesOf(secretNames) }),
};

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Presets for the delays of DNS and CA. */
export const WAITING_PRESETS = [
  { value: 'instant', label: 'Instant', propagation: 'PT0S', issuanceDelay: 'PT0S' },
  { value: 'realistic', label: 'Realistic', propagation: 'PT1H', issuanceDelay: 'PT2M' },
  { value: 'slowest', label: '48 hours', propagation: 'PT48H', issuanceDelay: 'PT2M' },
] as const;

export type WaitingPreset = (typeof WAITING_PRESETS)[number]['value'];

/** The preset with these values; undefined for custom values. */
export const presetOf = (values: { propagation: string; issuanceDelay: string }): WaitingPreset | undefined =>
  WAITING_PRESETS.find(
    ({ propagation, issuanceDelay }) =>
      sameDuration(propagation, values.propagation) && sameDuration(issuanceDelay, values.issuanceDelay),
  )?.value;

/** All settings of the engine by group; each group is saved on its own. */
export function createEngineSettings({ client, settings, toasts }: SettingsSource & { toasts: Toasts }) {
  const parts = { client, toasts };
  const groups = {
    bans: new SettingsGroup(BANS, parts),
    waiting: new SettingsGroup(WAITING, parts),
    resolver: new SettingsGroup(RESOLVER, parts),
    caaIdentity: new SettingsGroup(CAA_IDENTITY, parts),
    cors: new SettingsGroup(CORS, parts),
    answers: new SettingsGroup(ANSWERS, parts),
    dns: new SettingsGroup(DNS, parts),
    trustedProxies: new SettingsGroup(TRUSTED_PROXIES, parts),
    secretNames: new SettingsGroup(SECRET_NAMES, parts),
  };
  const close = settings.follow((value) => {
    for (const group of Object.values(groups)) group.adopt(value);
  });
  return {
    ...groups,
    fillPreset(chosen: WaitingPreset): void {
      const preset = WAITING_PRESETS.find(({ value }) => value === chosen);
      if (preset === undefined) return;
      const { propagation, issuanceDelay } = preset;
      groups.waiting.form.reset({
        propagation: typedDuration(propagation),
        issuanceDelay: typedDuration(issuanceDelay),
      });
    },
    close,
  };
}

export type EngineSettings = ReturnType<typeof createEngineSettings>;
