import type { TrafficEntry } from '../../contract/traffic.ts';
import { typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import { deedOf } from '../words/deeds.ts';
import { renderEvent, renderObject, renderResult } from './render.ts';
import { printable, type Renderer, type Shown } from './text.ts';
import { counted } from './text-views.ts';
import { TrafficRows } from './traffic-rows.ts';

/** Renders the result of `procedure` as text for people. */
export function renderFor(
  procedure: string,
  result: unknown,
  { asked = {}, own = typed, ...renderer }: Renderer & Partial<Shown>,
): string {
  const shown: Shown = { ...renderer, asked, own };
  const { says, view, first, empty } = deedOf(procedure);
  if (empty !== undefined && itemsOf(result)?.length === 0) {
    const [sentence, command] = empty;
    const project = () => posixWord(String(shown.asked['projectId'] ?? 'demo'));
    const next = command === undefined ? '' : ` ${shown.own(`vivarium ${command.replace('PROJECT', project)}`)}`;
    const { items: _items, ...rest } = result as Record<string, unknown>;
    return `${sentence}${next}\n${Object.keys(rest).length === 0 ? '' : `\n${renderObject(rest, shown)}`}`;
  }
  if (says !== undefined) return `${printable(says(result))}\n`;
  return view?.(result, shown) ?? renderResult(result, shown, first);
}

function itemsOf(result: unknown): readonly unknown[] | null {
  const items = Array.isArray(result) ? result : (result as { items?: unknown } | null)?.items;
  return Array.isArray(items) ? items : null;
}

/** What one value of a stream writes for people: lines for standard output, and notices for standard error. */
export interface StreamText {
  lines: string;
  notices: string[];
}

/** Shows the values of one stream. */
export interface StreamView {
  /** Written once, before the first value. */
  header(renderer: Renderer): string;
  value(value: unknown, renderer: Renderer): StreamText;
}

interface TrafficBatch {
  entries: TrafficEntry[];
  missed: number;
  cleared: boolean;
}

export function createStreamView(procedure: string): StreamView {
  if (procedure !== 'traffic.watch') {
    return { header: () => '', value: (value, renderer) => ({ lines: renderEvent(value, renderer), notices: [] }) };
  }
  const rows = new TrafficRows();
  return {
    header: (renderer) => `${rows.header(renderer).line}\n`,
    value(value, renderer) {
      const { entries, missed, cleared } = value as TrafficBatch;
      return {
        lines: entries.map((entry) => `${rows.row(entry, renderer)}\n`).join(''),
        notices: [
          ...(cleared ? ['The earlier entries were deleted.'] : []),
          ...(missed > 0 ? [`${counted(missed, 'more request', 'more requests')} arrived too fast to be shown.`] : []),
        ],
      };
    },
  };
}

/**
 * The JSON texts of one value of a stream, one a line. A batch of `traffic watch` becomes `{"cleared":true}` if the
 * entries before it were deleted, its entries, and `{"missed":n}` if n further ones came too fast.
 */
export function jsonTexts(procedure: string, json: string): string[] {
  if (procedure !== 'traffic.watch') return [json];
  const { entries, missed, cleared } = JSON.parse(json) as TrafficBatch;
  const values = [...(cleared ? [{ cleared }] : []), ...entries, ...(missed > 0 ? [{ missed }] : [])];
  return values.map((value) => JSON.stringify(value));
}

/** Fields that may accompany the content of a file. */
const FACTS: ReadonlySet<string> = new Set(['format', 'fileName', 'baseUrl']);

/**
 * The file in a result such as an exported certificate or zone: `text`, `document` or `base64` with nothing but
 * metadata beside it, or a whole JSON document. Null for any other result.
 */
export function fileContent(procedure: string, result: unknown): string | Uint8Array | null {
  if (deedOf(procedure).isDocument === true) return `${JSON.stringify(result, null, 2)}\n`;
  if (typeof result !== 'object' || result === null) return null;
  const entries = Object.entries(result).filter(([name]) => !FACTS.has(name));
  const [[name, content] = ['', null], surplus] = entries;
  if (surplus !== undefined || typeof content !== 'string') return null;
  if (name === 'text' || name === 'document') return content;
  return name === 'base64' ? Buffer.from(content, 'base64') : null;
}
