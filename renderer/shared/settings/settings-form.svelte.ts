import { DEFAULT_SETTINGS } from '../../../main/contract/default-settings.ts';
import type { Settings } from '../../../main/contract/settings.ts';
import type { Client } from '../../connection/transport.ts';
import { type Elsewhere, Form } from '../controls/form.svelte.ts';
import { readCount } from '../controls/typed-count.ts';
import type { SettingsSource } from '../session/settings-query.ts';
import type { Toasts } from '../session/toasts.svelte.ts';
import { joinDuration, sameDuration, splitDuration } from '../time/typed-duration.ts';
import type { SettingRow, SettingsSection, SettingValue } from './settings-table.ts';

type Texts = Record<string, string>;
type SettingsPatch = Parameters<Client['settings']['update']>[0];

/** The settings of one section: saved values, typed values, saving and undo. All values are texts. */
export class SettingsForm {
  readonly form: Form<Texts, Settings>;
  readonly close: () => void;
  /** The settings for which the choice of another value is open. */
  #others: readonly string[] = $state.raw([]);
  readonly #section: SettingsSection;
  readonly #client: Client;
  readonly #toasts: Toasts;

  constructor(section: SettingsSection, { client, settings, toasts }: SettingsSource & { toasts: Toasts }) {
    this.#section = section;
    this.#client = client;
    this.#toasts = toasts;
    this.form = new Form({
      values: this.#read(DEFAULT_SETTINGS),
      submit: () => client.settings.update(this.#patch(this.form.values, this.#changedNames())),
    });
    this.close = settings.follow((value) => this.form.follow(this.#read(value)));
  }

  get changed(): boolean {
    return this.#changedNames().length > 0;
  }

  get isDefault(): boolean {
    return this.#differing(this.#read(DEFAULT_SETTINGS)).length === 0;
  }

  text(name: string): string {
    return this.form.values[name] ?? '';
  }

  type(name: string, text: string): void {
    this.form.values[name] = text;
  }

  /** The text of the chosen value; undefined when another one is typed. */
  choice(name: string): string | undefined {
    if (this.#others.includes(name)) return undefined;
    const row = this.#row(name);
    const text = this.text(name);
    const chosen = row.choices?.find(({ value }) => isSame(row, toText(row, value), text));
    return chosen === undefined ? undefined : toText(row, chosen.value);
  }

  /** Chooses a value by its text, or undefined to type another one. */
  choose(name: string, text: string | undefined): void {
    const others = this.#others.filter((other) => other !== name);
    this.#others = text === undefined ? [...others, name] : others;
    if (text !== undefined) this.type(name, text);
    else if (this.#row(name).kind !== 'duration') this.type(name, '');
  }

  /** The value that somebody else has saved while the user was editing; a choice by its label. */
  elsewhere(name: string): Elsewhere<string> | undefined {
    const elsewhere = this.form.elsewhere(name);
    if (elsewhere === undefined) return undefined;
    const row = this.#row(name);
    const chosen = row.choices?.find(({ value }) => isSame(row, toText(row, value), elsewhere.value));
    const take = (): void => {
      elsewhere.take();
      this.choose(name, elsewhere.value);
    };
    return { ...elsewhere, value: chosen?.label ?? elsewhere.value, take };
  }

  discard(): void {
    this.#show(this.form.saved);
  }

  fillDefaults(): void {
    this.discard();
    Object.assign(this.form.values, this.#read(DEFAULT_SETTINGS));
  }

  /** Saves what was changed. */
  async save(): Promise<void> {
    const before = this.#patch(this.form.saved, this.#changedNames());
    const settings = await this.form.submit();
    if (settings === undefined) return;
    this.#show(this.#read(settings));
    const { title } = this.#section;
    this.#toasts.done({
      text: `${title}: saved.`,
      undo: async () => this.#show(this.#read(await this.#client.settings.update(before))),
      undone: `${title}: as before.`,
    });
  }

  #show(saved: Texts): void {
    this.#others = [];
    this.form.reset(saved);
  }

  #row(name: string): SettingRow {
    const row = this.#section.rows[name];
    if (row === undefined) throw new Error(`No setting ${name}`);
    return row;
  }

  #read(settings: Settings): Texts {
    const names = Object.keys(this.#section.rows);
    return Object.fromEntries(names.map((name) => [name, toText(this.#row(name), valueAt(settings, name))]));
  }

  #changedNames(): string[] {
    return this.#differing(this.form.saved);
  }

  #differing(from: Texts): string[] {
    return Object.keys(from).filter((name) => !isSame(this.#row(name), from[name], this.form.values[name]));
  }

  /** The change that sets these of the texts; the engine checks it. */
  #patch(texts: Texts, names: readonly string[]): SettingsPatch {
    const patch: Record<string, unknown> = {};
    for (const name of names) {
      const value = toValue(this.#row(name), texts[name] ?? '');
      const [outer = name, inner] = name.split('.');
      patch[outer] = inner === undefined ? value : { ...(patch[outer] as object | undefined), [inner]: value };
    }
    return patch as SettingsPatch;
  }
}

const valueAt = (settings: Settings, path: string): SettingValue =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], settings) as SettingValue;

function toText({ kind }: SettingRow, value: SettingValue): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.join('\n');
  // In its typed form, so 600 seconds and ten minutes compare equal.
  return kind === 'duration' ? joinDuration(splitDuration(String(value))) : String(value);
}

function toValue(row: SettingRow, text: string): SettingValue {
  const chosen = row.choices?.find(({ value }) => isSame(row, toText(row, value), text));
  if (chosen !== undefined) return chosen.value;
  const trimmed = text.trim();
  if (row.kind === 'optional' && trimmed === '') return null;
  // An omitted count would mean no change; an empty one is sent for the engine to refuse.
  if (row.kind === 'count') return readCount(text) ?? Number.NaN;
  return row.kind === 'lines' ? linesOf(text) : trimmed;
}

const isSame = ({ kind }: SettingRow, one = '', other = ''): boolean =>
  kind === 'duration' ? sameDuration(one, other) : one.trim() === other.trim();

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
