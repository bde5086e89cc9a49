import type { ImportColumns, ImportDelimiter, ImportFormat, ImportPreview } from '../../../../main/contract/pets.ts';
import type { RealTime } from '../../../shared/time/real-time.ts';
import { describeFailure } from '../../../connection/failure.ts';
import type { ImportForm } from '../pet-text.ts';
import { formatOf, type DatasetOfPets, type ImportSource } from '../pet-works.ts';
import { textPieces, UnreadableFileError, type Encoding } from '../../../shared/display/text-pieces.ts';
import { encodingOf } from './encoding.ts';

/** The part read for a preview; the engine shows its first 50 rows. */
const PREVIEW_BYTES = 64 * 1024;

/** Previews after a pause in typing. */
const PAUSE_MS = 150;

/** The source of an import, how it is read, and the engine's preview of its first rows. */
export class ImportChoice {
  file = $state.raw<File | undefined>(undefined);
  text = $state('');
  format = $state<ImportFormat>('json');
  encoding = $state<Encoding>('utf-8');
  #delimiter = $state<ImportDelimiter | undefined>(undefined);
  #columns = $state.raw<ImportColumns>({});
  preview = $state.raw<ImportPreview | undefined>(undefined);
  /** The reason why there is no preview. */
  failure = $state<string | undefined>(undefined);
  #requested = 0;
  #pause: { cancel(): void } | undefined;
  readonly #time: RealTime;
  readonly #dataset: () => DatasetOfPets;
  /** What separates the cells: the chosen one, or the one that the engine has found. */
  readonly delimiter: ImportDelimiter | undefined = $derived.by(() => this.#delimiter ?? this.preview?.delimiter);
  readonly isEmpty: boolean = $derived.by(() => this.file === undefined && this.text.trim() === '');

  constructor(options: { time: RealTime; dataset: () => DatasetOfPets }) {
    this.#time = options.time;
    this.#dataset = options.dataset;
  }

  get source(): ImportSource {
    return {
      file: this.file ?? new Blob([this.text]),
      name: this.file?.name ?? 'pasted text',
      encoding: this.encoding,
      form: this.#form,
    };
  }

  async choose(file: File): Promise<void> {
    this.#forget();
    this.file = file;
    this.text = '';
    this.format = formatOf(file.name, '');
    const request = ++this.#requested;
    try {
      const encoding = await encodingOf(file);
      const { value: piece } = await textPieces(file, PREVIEW_BYTES, encoding).next();
      if (request !== this.#requested) return;
      this.encoding = encoding;
      this.format = formatOf(file.name, piece?.text ?? '');
    } catch (error) {
      if (request === this.#requested) this.failure = describe(error);
      return;
    }
    await this.#read();
  }

  type(text: string): void {
    this.#forget();
    this.file = undefined;
    this.encoding = 'utf-8';
    this.text = text;
    this.format = formatOf('', text);
    this.#pause = this.#time.realTimer(PAUSE_MS, () => void this.#read());
  }

  setFormat(format: ImportFormat): Promise<void> {
    this.#forget();
    this.format = format;
    return this.#read();
  }

  setEncoding(encoding: Encoding): Promise<void> {
    this.#forget();
    this.encoding = encoding;
    return this.#read();
  }

  setDelimiter(delimiter: ImportDelimiter): Promise<void> {
    this.#columns = {};
    this.#delimiter = delimiter;
    return this.#read();
  }

  /** Reads a field from the column with that title; from none when it is empty. */
  setColumn(field: keyof ImportColumns, title: string): Promise<void> {
    this.#columns = { ...this.#columns, [field]: title };
    return this.#read();
  }

  /** Discards the file and the text. */
  clear(): void {
    this.#forget();
    this.file = undefined;
    this.text = '';
  }

  close(): void {
    this.#forget();
  }

  get #form(): ImportForm {
    return {
      format: this.format,
      ...(this.format === 'csv' && this.#delimiter !== undefined && { delimiter: this.#delimiter }),
      ...(Object.keys(this.#columns).length > 0 && { columns: this.#columns }),
    };
  }

  #forget(): void {
    this.#pause?.cancel();
    this.#requested++;
    this.#delimiter = undefined;
    this.#columns = {};
    this.preview = undefined;
    this.failure = undefined;
  }

  async #read(): Promise<void> {
    const request = ++this.#requested;
    if (this.isEmpty) return;
    const { file, encoding } = this.source;
    const { client, projectId, environment } = this.#dataset();
    try {
      const { value: piece } = await textPieces(file, PREVIEW_BYTES, encoding).next();
      const text = piece?.text ?? '';
      const more = (piece?.readTo ?? 0) < file.size;
      const preview = await client.pets.previewImport({ projectId, environment, ...this.#form, text, more });
      if (request !== this.#requested) return;
      this.preview = preview;
      this.failure = undefined;
    } catch (error) {
      if (request !== this.#requested) return;
      this.preview = undefined;
      this.failure = describe(error);
    }
  }
}

const describe = (error: unknown): string =>
  error instanceof UnreadableFileError ? error.message : describeFailure(error);
