/** One server-sent event from the control port. */
export interface StreamEvent {
  event: string;
  data: string;
}

/** Longer lines cannot come from Vivarium. */
const LINE_LENGTH_MAX = 64 * 1024 * 1024;

/** Parses server-sent events (WHATWG HTML §9.2) from chunks of text; skips comments. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent, void, void> {
  let event = '';
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (event !== '' || data.length > 0) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
    } else if (line.startsWith('event:')) {
      event = line.slice('event:'.length).trimStart();
    } else if (line.startsWith('data:')) {
      data.push(line.slice('data:'.length).replace(/^ /, ''));
    }
  }
}

async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let pending = '';
  for await (const chunk of chunks) {
    const lines = (pending + chunk).split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > LINE_LENGTH_MAX) throw new RangeError('A line of the stream is too long.');
    for (const line of lines) yield line.replace(/\r$/, '');
  }
}
