/** An event of `text/event-stream` (WHATWG HTML, section 9.2). */
export interface StreamEvent {
  id: string | undefined;
  /** `message` unless named. */
  type: string;
  data: string;
}

/** The events of a stream; one that has not ended is left out, as in a browser. */
export function readEvents(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  const blocks = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n\n')
    .slice(0, -1);
  for (const block of blocks) {
    const fields = block.split('\n').flatMap((line) => {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      return name === '' ? [] : [{ name, value }];
    });
    const lastOf = (wanted: string): string | undefined => fields.findLast(({ name }) => name === wanted)?.value;
    const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value);
    if (data.length > 0) events.push({ id: lastOf('id'), type: lastOf('event') || 'message', data: data.join('\n') });
  }
  return events;
}
