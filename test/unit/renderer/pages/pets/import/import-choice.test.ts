// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { Connection } from '../../../../../../renderer/connection/connection.svelte.ts';
import { ImportChoice } from '../../../../../../renderer/pages/pets/import/import-choice.svelte.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../../support/page/page-link.ts';

const PREVIEW = { delimiter: 'semicolon', titles: ['Titel', 'Kind'], columns: {}, rows: [] };

async function setUp() {
  const time = createFakeClock();
  const transport = createFakeTransport();
  transport.stub('pets.previewImport', () => PREVIEW);
  const connection = new Connection({ transport, time, pulse: () => Promise.resolve() });
  connection.start();
  await settle();
  const dataset = { client: connection.client, projectId: 'prj_demo', environment: 'staging' } as const;
  const choice = new ImportChoice({ time, dataset: () => dataset });
  const asked = () => transport.calls.filter(({ procedure }) => procedure === 'pets.previewImport').at(-1)?.input;
  return { time, transport, choice, asked };
}

describe('a text to be imported', () => {
  it('is previewed in its own encoding, and imported as it was previewed', async () => {
    const { choice, asked } = await setUp();
    await choice.choose(new File([new Uint8Array([0x5a, 0xeb])], 'pets.csv'));
    expect(asked()).toMatchObject({ environment: 'staging', format: 'csv', text: 'Zë', more: false });
    expect([choice.encoding, choice.delimiter, choice.source.form]).toEqual([
      'windows-1252',
      'semicolon',
      { format: 'csv' },
    ]);
    await choice.setDelimiter('pipe');
    await choice.setColumn('name', 'Titel');
    const form = { format: 'csv', delimiter: 'pipe', columns: { name: 'Titel' } };
    expect(asked()).toMatchObject(form);
    expect(choice.source).toMatchObject({ name: 'pets.csv', encoding: 'windows-1252', form });
    await choice.setFormat('json');
    expect(choice.source.form).toEqual({ format: 'json' });
  });

  it('is previewed by its first 64 KiB, and as one that continues when it is longer', async () => {
    const { choice, asked } = await setUp();
    await choice.choose(new File(['x'.repeat(100 * 1024)], 'pets.csv'));
    expect(asked()).toMatchObject({ text: 'x'.repeat(64 * 1024), more: true });
  });

  it('is previewed after a pause in typing, by its beginning', async () => {
    const { time, transport, choice, asked } = await setUp();
    choice.type('[');
    choice.type('[{"name":"Rex"}]');
    await time.pass(150);
    expect(asked()).toMatchObject({ format: 'json', text: '[{"name":"Rex"}]' });
    expect(transport.calls.filter(({ procedure }) => procedure === 'pets.previewImport')).toHaveLength(1);
    choice.clear();
    expect([choice.isEmpty, choice.preview]).toEqual([true, undefined]);
  });

  it('tells why it has no preview', async () => {
    const { transport, choice } = await setUp();
    transport.stub('pets.previewImport', () => Promise.reject(new ORPCError('unavailable', { message: 'It stops.' })));
    await choice.choose(new File(['x'], 'pets.csv'));
    expect([choice.preview, choice.failure]).toEqual([undefined, 'It stops.']);
    await choice.choose(new File([new Uint8Array([0xef, 0xbb, 0xbf, 0xff])], 'pets.csv'));
    expect(choice.failure).toContain('The file is not UTF-8 text');
  });
});
