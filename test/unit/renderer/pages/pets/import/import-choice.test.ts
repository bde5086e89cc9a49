// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { ImportChoice } from '../../../../../../renderer/pages/pets/import/import-choice.svelte.ts';
import { refuses } from '../../../../../support/fake-client.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

const PREVIEW = { delimiter: 'semicolon', titles: ['Titel', 'Kind'], columns: {}, rows: [] };

function setUp() {
  const parts = pageParts({ 'pets.previewImport': () => PREVIEW });
  const dataset = { client: parts.client, projectId: 'prj_demo', environment: 'staging' } as const;
  const choice = new ImportChoice({ time: parts.time, dataset: () => dataset });
  return { ...parts, choice, asked: () => parts.asked('pets.previewImport').at(-1) };
}

describe('a text to be imported', () => {
  it('is previewed in its own encoding, and imported as it was previewed', async () => {
    const { choice, asked } = setUp();
    await choice.choose(new File([new Uint8Array([0x5a, 0xeb])], 'pets.csv'));
    expect(asked()).toMatchObject({ environment: 'staging', format: 'csv', text: 'Zë', more: false });
    const csv = { format: 'csv' };
    expect([choice.encoding, choice.delimiter, choice.source.form]).toEqual(['windows-1252', 'semicolon', csv]);
    await choice.setDelimiter('pipe');
    await choice.setColumn('name', 'Titel');
    const form = { format: 'csv', delimiter: 'pipe', columns: { name: 'Titel' } };
    expect(asked()).toMatchObject(form);
    expect(choice.source).toMatchObject({ name: 'pets.csv', encoding: 'windows-1252', form });
    await choice.setFormat('json');
    expect(choice.source.form).toEqual({ format: 'json' });
  });

  it('is previewed by its first 64 KiB, and as one that continues when it is longer', async () => {
    const { choice, asked } = setUp();
    await choice.choose(new File(['x'.repeat(100 * 1024)], 'pets.csv'));
    expect(asked()).toMatchObject({ text: 'x'.repeat(64 * 1024), more: true });
  });

  it('is previewed after a pause in typing, by its beginning', async () => {
    const { time, calls, choice, asked } = setUp();
    choice.type('[');
    choice.type('[{"name":"Rex"}]');
    await time.pass(150);
    expect(asked()).toMatchObject({ format: 'json', text: '[{"name":"Rex"}]' });
    expect(calls).toHaveLength(1);
    choice.clear();
    expect([choice.isEmpty, choice.preview]).toEqual([true, undefined]);
  });

  it('tells why it has no preview', async () => {
    const { answers, choice } = setUp();
    answers['pets.previewImport'] = refuses('unavailable', 'It stops.');
    await choice.choose(new File(['x'], 'pets.csv'));
    expect([choice.preview, choice.failure]).toEqual([undefined, 'It stops.']);
    await choice.choose(new File([new Uint8Array([0xef, 0xbb, 0xbf, 0xff])], 'pets.csv'));
    expect(choice.failure).toContain('The file is not UTF-8 text');
  });
});
